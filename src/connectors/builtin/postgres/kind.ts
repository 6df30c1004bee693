import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  type Extension,
  extensionMetadata,
  Field,
  FixedSizeBinary,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  IntervalMonthDayNano,
  List,
  TimeMicrosecond,
  TimestampMicrosecond,
  Uint32,
  Utf8,
} from "../../../util/arrow.ts";

/** How values of a column travel from the server: one binary form each, and one Arrow type. */
export type Kind =
  | { readonly kind: SimpleKind }
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number }
  | { readonly kind: "list"; readonly element: Kind };

export type SimpleKind =
  | "bool"
  | "int2"
  | "int4"
  | "int8"
  | "uint4"
  | "float4"
  | "float8"
  | "text"
  | "bytes"
  | "json"
  | "jsonb"
  | "uuid"
  | "date"
  | "time"
  | "timestamp"
  | "timestamptz"
  | "interval";

const ARROW: { readonly [kind in SimpleKind]: () => DataType } = {
  bool: () => new Bool(),
  int2: () => new Int16(),
  int4: () => new Int32(),
  int8: () => new Int64(),
  uint4: () => new Uint32(),
  float4: () => new Float32(),
  float8: () => new Float64(),
  text: () => new Utf8(),
  bytes: () => new Binary(),
  json: () => new Utf8(),
  jsonb: () => new Utf8(),
  uuid: () => new FixedSizeBinary(16),
  date: () => new DateDay(),
  time: () => new TimeMicrosecond(),
  timestamp: () => new TimestampMicrosecond(),
  timestamptz: () => new TimestampMicrosecond("UTC"),
  interval: () => new IntervalMonthDayNano(),
};

const EXTENSIONS: { readonly [kind: string]: Extension } = {
  json: { name: "arrow.json" },
  jsonb: { name: "arrow.json" },
  uuid: { name: "arrow.uuid" },
};

/** The Arrow field of a column, which may be NULL; JSON and UUIDs are marked as such. */
export function arrowField(name: string, kind: Kind): Field {
  const extension = EXTENSIONS[kind.kind];
  return new Field(name, arrowType(kind), true, extension === undefined ? undefined : extensionMetadata(extension));
}

function arrowType(kind: Kind): DataType {
  switch (kind.kind) {
    case "decimal":
      return new Decimal(kind.scale, kind.precision, 128);
    case "list":
      return new List(arrowField("item", kind.element));
    default:
      return ARROW[kind.kind]();
  }
}
