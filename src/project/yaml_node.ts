import type { KeyPlaces, SourcePosition, Value, ValueMap } from "./model.ts";
import { recordOf } from "./optional.ts";
import { type Problems, report } from "./problems.ts";

/** A scalar as it was written: `text` is its raw text, `value` what it means, `quoted` says that typing was not tried. */
export type YamlScalar = {
  readonly kind: "scalar";
  readonly text: string;
  readonly value: Exclude<Value, null | readonly Value[] | ValueMap>;
  readonly quoted: boolean;
  /** False where `value` can't hold all digits of `text`. */
  readonly exact: boolean;
  readonly position: SourcePosition;
  /** Where each line of `text` starts in the file; undefined where the text was written in another form. */
  readonly lines?: readonly SourcePosition[];
};

/**
 * A key or list item with nothing behind it, which is the empty text in YAML and null in a call; `reported` where
 * something stood there that was refused already.
 */
export type YamlEmpty = {
  readonly kind: "empty";
  readonly value?: null;
  readonly reported?: true;
  readonly position: SourcePosition;
};
export type YamlList = {
  readonly kind: "list";
  readonly items: readonly YamlNode[];
  readonly position: SourcePosition;
};
export type YamlEntry = { readonly key: string; readonly position: SourcePosition; readonly value: YamlNode };
export type YamlMap = {
  readonly kind: "map";
  readonly entries: readonly YamlEntry[];
  readonly position: SourcePosition;
};

/** One value of a project file with its place; aliases are resolved and merge keys applied. */
export type YamlNode = YamlScalar | YamlEmpty | YamlList | YamlMap;

/** The entry of a key, or undefined. */
export function entryOf(map: YamlMap, key: string): YamlEntry | undefined {
  return map.entries.find((entry) => entry.key === key);
}

/** Where the keys of a map stand; empty for anything else. */
export function placesOf(node: YamlNode | undefined): KeyPlaces {
  return recordOf(node?.kind === "map" ? node.entries.map(({ key, position }) => [key, position] as const) : []);
}

/** The plain value of a node; reports PZ0137 where a number would lose digits. */
export function valueOf(node: YamlNode, problems: Problems): Value {
  switch (node.kind) {
    case "empty":
      return node.value === null ? null : "";
    case "scalar":
      if (!node.exact) {
        report(
          problems,
          "PZ0137",
          `The number '${node.text}' has more digits than can be kept exactly`,
          node.position,
          "Put it in quotes to keep its digits as text.",
        );
      }
      return node.value;
    case "list":
      return node.items.map((item) => valueOf(item, problems));
    case "map":
      return valueMapOf(node.entries, problems);
  }
}

/** The plain values of some entries. */
export function valueMapOf(entries: readonly YamlEntry[], problems: Problems): ValueMap {
  return Object.fromEntries(entries.map((entry) => [entry.key, valueOf(entry.value, problems)]));
}

/** A node for a value that stands in a call, everything at the call's own place. */
export function nodeOfValue(value: Value, position: SourcePosition): YamlNode {
  if (value === null) return { kind: "empty", value: null, position };
  if (isList(value)) return { kind: "list", items: value.map((item) => nodeOfValue(item, position)), position };
  if (typeof value === "object") return mapOfValues(value, position);
  return { kind: "scalar", text: String(value), value, quoted: typeof value === "string", exact: true, position };
}

/** A map node for the named arguments of a call. */
export function mapOfValues(values: ValueMap, position: SourcePosition): YamlMap {
  const entries = Object.entries(values).map(([key, value]) => ({
    key,
    position,
    value: nodeOfValue(value, position),
  }));
  return { kind: "map", entries, position };
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}
