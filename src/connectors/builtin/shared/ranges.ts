import { ConnectorError, type DatasetSpec } from "../../contract/mod.ts";

/** A part of a read: rows whose values of one column lie in [lower, upper), or are NULL in the first part. */
export type Range = {
  /** Undefined: all rows. */
  readonly column?: string;
  /** In whole units of the column's type; absent: no bound. */
  readonly lower?: string;
  readonly upper?: string;
};

/** The part as the id of a partition, which holds all that is needed to read just this part again. */
export function rangeId(range: Range): string {
  return JSON.stringify(range);
}

/** @throws {ConnectorError} for an id that `rangeId` never gave */
export function rangeOf(id: string): Range {
  const members: { [name: string]: string } = {};
  for (const [name, member] of Object.entries(objectOf(id))) {
    const isBound = name === "lower" || name === "upper";
    if (typeof member !== "string" || (isBound && !/^-?\d+$/.test(member))) throw unknownId();
    members[name] = member;
  }
  return members;
}

function objectOf(id: string): object {
  try {
    const value: unknown = JSON.parse(id);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // told below
  }
  throw unknownId();
}

function unknownId(): ConnectorError {
  return new ConnectorError("A partition that this connector did not plan", { transient: false, code: "PZ0357" });
}

/**
 * Parts of equal width that together hold every row whose values go from `least` to `most` when they are looked at, and
 * every other row; fewer where the values lie closer together. Without values, one part.
 */
export function equalRanges(
  column: string,
  least: bigint | undefined,
  most: bigint | undefined,
  count: number,
): readonly Range[] {
  const bounds = new Set<bigint>();
  if (least !== undefined && most !== undefined) {
    const span = most - least + 1n;
    for (let part = 1n; part < BigInt(count); part++) {
      const bound = least + (span * part) / BigInt(count);
      if (bound > least) bounds.add(bound);
    }
  }
  const edges = [undefined, ...[...bounds].map(String), undefined];
  return edges.slice(1).map((upper, index) => {
    const lower = edges[index];
    return {
      column,
      ...(lower === undefined ? {} : { lower }),
      ...(upper === undefined ? {} : { upper }),
    };
  });
}

/** The condition that chooses a part's rows; undefined: all of them. */
export function rangeCondition(
  { lower, upper }: Range,
  name: string,
  bound: (units: string) => string,
): string | undefined {
  if (lower === undefined) {
    return upper === undefined ? undefined : `(${name} < ${bound(upper)} OR ${name} IS NULL)`;
  }
  const from = `${name} >= ${bound(lower)}`;
  return upper === undefined ? from : `${from} AND ${name} < ${bound(upper)}`;
}

/**
 * The parts of an earlier plan by the same column, so that another attempt divides alike whatever values there are by
 * now. Undefined: there was none, or it is none that `equalRanges` made.
 */
export function priorRanges(prior: DatasetSpec["priorPartitions"], column: string): readonly Range[] | undefined {
  if (prior === undefined || prior.length === 0) return undefined;
  let ranges: readonly Range[];
  try {
    ranges = prior.map(({ id }) => rangeOf(id));
  } catch {
    return undefined;
  }
  const joins = ranges.every((range, index) => range.column === column && range.lower === ranges[index - 1]?.upper);
  const isOpen = ranges.every(({ upper }, index) => (upper === undefined) === (index === ranges.length - 1));
  return joins && isOpen ? ranges : undefined;
}
