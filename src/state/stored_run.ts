/** What a receipt or journal says of a node; whatever else stands there is of no interest here. */
export type StoredNode = {
  readonly id: string;
  readonly status: string;
  readonly provenance: string | undefined;
};

export type StoredReceipt = {
  readonly status: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly interrupted: boolean;
  readonly nodes: readonly StoredNode[];
};

/** Reads a run_results.json; undefined when it is missing or is no receipt, or no file at all. */
export async function readReceipt(path: string): Promise<StoredReceipt | undefined> {
  const value = parseObject(await readIfPresent(path) ?? "");
  if (value === undefined || typeof value.status !== "string") return undefined;
  return {
    status: value.status,
    startedAt: textOrNull(value.startedAt),
    finishedAt: textOrNull(value.finishedAt),
    interrupted: value.interrupted === true,
    nodes: Array.isArray(value.nodes) ? value.nodes.flatMap((node: unknown) => storedNode(node) ?? []) : [],
  };
}

export type StoredJournal = {
  readonly nodes: readonly StoredNode[];
  /** How the run ended, where its receipt could not be written. */
  readonly end: Omit<StoredReceipt, "startedAt" | "nodes"> | undefined;
};

/** Reads a journal; undefined when it is missing. A line that was cut off by a crash is left out. */
export async function readJournal(path: string): Promise<StoredJournal | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  const lines = text.split("\n").map(parseObject).filter((line) => line !== undefined);
  const last = lines.at(-1);
  return {
    nodes: lines.flatMap((line) => storedNode(line) ?? []),
    end: typeof last?.end !== "string" ? undefined : {
      status: last.end,
      finishedAt: textOrNull(last.finishedAt),
      interrupted: last.interrupted === true,
    },
  };
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) return undefined;
    throw error;
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function storedNode(value: unknown): StoredNode | undefined {
  if (!isObject(value) || typeof value.id !== "string" || typeof value.status !== "string") return undefined;
  return {
    id: value.id,
    status: value.status,
    provenance: typeof value.provenance === "string" ? value.provenance : undefined,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
