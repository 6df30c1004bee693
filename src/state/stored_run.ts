import { isObject, numberOf, parseObject, readIfPresent, textOf, textOrNull } from "./json_read.ts";

/** What a receipt or journal says of a node; whatever else stands there is of no interest here. */
export type StoredNode = {
  readonly id: string;
  readonly status: string;
  readonly provenance: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly rows: number;
  readonly durationMs: number;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /** Of a write that failed: nobody knows whether its rows stand in the target. */
  readonly outcomeUnknown: boolean;
  /** Of a write that failed: how many of its rows may stand in the target. */
  readonly rowsVisible: number;
  readonly connection: string | undefined;
  readonly strategy: string | undefined;
  readonly attempts: number | undefined;
  readonly partitions: { readonly total: number; readonly reused: number; readonly resumed: number } | undefined;
};

export type StoredReceipt = {
  readonly status: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly interrupted: boolean;
  /** The run that it is a retry of. */
  readonly retryOf: string | undefined;
  readonly nodes: readonly StoredNode[];
};

/** Reads a run_results.json; undefined when it is missing or is no receipt, or no file at all. */
export async function readReceipt(path: string): Promise<StoredReceipt | undefined> {
  const value = parseObject(await readIfPresent(path) ?? "");
  if (value === undefined || typeof value["status"] !== "string") return undefined;
  const nodes: unknown = value["nodes"];
  return {
    status: value["status"],
    startedAt: textOrNull(value["startedAt"]),
    finishedAt: textOrNull(value["finishedAt"]),
    interrupted: value["interrupted"] === true,
    retryOf: textOf(value["retryOf"]),
    nodes: Array.isArray(nodes) ? nodes.flatMap((node: unknown) => storedNode(node) ?? []) : [],
  };
}

/** An attempt of a write that began; whether it ended is told by the node's own record. */
export type StartedWrite = { readonly id: string; readonly name: string; readonly attempt: number };

export type StoredJournal = {
  readonly nodes: readonly StoredNode[];
  readonly started: readonly StartedWrite[];
  /** Whether it says no more than that its run was about to begin. */
  readonly isBlank: boolean;
  /** Whether it holds a whole line, as that of every run does from its first moment on. */
  readonly isBegun: boolean;
  /** Whether a line of it can't be read. */
  readonly isTorn: boolean;
  /** How the run ended, where its receipt could not be written. */
  readonly end: Pick<StoredReceipt, "status" | "finishedAt" | "interrupted"> | undefined;
};

/** Reads a journal; undefined when it is missing. A line that was cut off by a crash is left out. */
export async function readJournal(path: string): Promise<StoredJournal | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  const texts = text.split("\n").filter((line) => line !== "");
  const lines = texts.map(parseObject).filter((line) => line !== undefined);
  const last = lines.at(-1);
  const isTorn = lines.length < texts.length;
  return {
    isBlank: !isTorn && lines.length > 0 && lines.every((line) => typeof line["journal"] === "number"),
    isBegun: lines.length > 0,
    isTorn,
    nodes: lines.flatMap((line) => storedNode(line) ?? []),
    started: lines.flatMap((line) => {
      const [id, attempt] = [textOf(line["started"]), numberOf(line["attempt"])];
      return id === undefined || attempt === undefined ? [] : [{ id, name: textOf(line["name"]) ?? id, attempt }];
    }),
    end: typeof last?.["end"] !== "string" ? undefined : {
      status: last["end"],
      finishedAt: textOrNull(last["finishedAt"]),
      interrupted: last["interrupted"] === true,
    },
  };
}

function storedNode(value: unknown): StoredNode | undefined {
  if (!isObject(value)) return undefined;
  const { id, status, error, delivery, partitions } = value;
  if (typeof id !== "string" || typeof status !== "string") return undefined;
  return {
    id,
    status,
    provenance: textOf(value["provenance"]),
    kind: textOf(value["kind"]) ?? "",
    name: textOf(value["name"]) ?? id,
    rows: numberOf(value["rows"]) ?? 0,
    durationMs: numberOf(value["durationMs"]) ?? 0,
    error: isObject(error) ? { code: textOf(error["code"]) ?? "", message: textOf(error["message"]) ?? "" } : undefined,
    outcomeUnknown: value["outcomeUnknown"] === true,
    rowsVisible: isObject(delivery) ? numberOf(delivery["rows_visible"]) ?? 0 : 0,
    connection: textOf(value["connection"]),
    strategy: textOf(value["strategy"]),
    attempts: numberOf(value["attempts"]),
    partitions: !isObject(partitions) ? undefined : {
      total: numberOf(partitions["total"]) ?? 0,
      reused: numberOf(partitions["reused"]) ?? 0,
      resumed: numberOf(partitions["resumed"]) ?? 0,
    },
  };
}
