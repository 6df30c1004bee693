import { fail, type Outcome, PzError, succeed } from "../../errors/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import type { ConfigMap, ConfigValue } from "../contract/mod.ts";
import type { ConformanceRead, ConformanceTarget, ConformanceWrite } from "./target.ts";

const READ_KEYS = ["dataset", "columns"];
const WRITE_KEYS = ["output", "mode", "schema_policy", "read_back"];

/** What is to be asked, as a file says it: `connection`, `read` and `write`, the latter two with options of the connector. */
export function conformanceConfig(
  values: ConfigMap,
  file: string,
): Outcome<Pick<ConformanceTarget, "config" | "read" | "write">> {
  const errors: PzError[] = [];
  const wrong = (message: string, hint?: string) => void errors.push(new PzError("PZ0101", message, { file, hint }));
  const keys = ["connection", "read", "write"];
  for (const key of Object.keys(values).filter((key) => !keys.includes(key))) {
    const meant = nearMiss(key, keys);
    wrong(`unknown key '${key}'`, meant === undefined ? `the keys are ${keys.join(", ")}` : `did you mean '${meant}'?`);
  }
  const block = (key: string) => {
    const value = values[key];
    if (value === undefined || value === null || isMap(value)) return value ?? undefined;
    wrong(`'${key}' is no map`);
    return undefined;
  };
  const config = block("connection") ?? {};
  const read = block("read");
  const write = block("write");
  const result = {
    config,
    read: read === undefined ? undefined : readOf(read, "read", wrong),
    write: write === undefined ? undefined : writeOf(write, wrong),
  };
  return errors.length > 0 ? fail(errors) : succeed(result);
}

type Complain = (message: string, hint?: string) => void;

function readOf(block: ConfigMap, where: string, wrong: Complain): ConformanceRead | undefined {
  const { dataset, columns } = block;
  if (typeof dataset !== "string" || dataset === "") {
    wrong(`'${where}' names no dataset`, "add dataset: with the name of one that has rows");
    return undefined;
  }
  const contract = columns === undefined ? undefined : columnsOf(columns, wrong);
  return { dataset, options: without(block, READ_KEYS), ...(contract === undefined ? {} : { columns: contract }) };
}

function columnsOf(columns: ConfigValue, wrong: Complain): ConformanceRead["columns"] {
  if (!isMap(columns)) {
    wrong("'columns' is no map of names and types");
    return undefined;
  }
  return Object.entries(columns).flatMap(([name, type]) => typeof type === "string" ? [{ name, type }] : []);
}

function writeOf(block: ConfigMap, wrong: Complain): ConformanceWrite | undefined {
  const { output, mode = "replace", schema_policy: policy = "match", read_back: back } = block;
  if (typeof output !== "string" || output === "") {
    wrong("'write' names no output", "add output: with the name of one that may be overwritten");
    return undefined;
  }
  if (mode !== "replace" && mode !== "append" && mode !== "merge") {
    wrong(`'mode' is ${JSON.stringify(String(mode))}`, "use replace, append or merge");
    return undefined;
  }
  const schemaPolicy = policy === "match" ? "fail_on_change" : policy;
  if (schemaPolicy !== "fail_on_change" && schemaPolicy !== "additive" && schemaPolicy !== "evolve") {
    wrong(`'schema_policy' is ${JSON.stringify(String(policy))}`, "use match, additive or evolve");
    return undefined;
  }
  const readBack = typeof back === "string"
    ? { dataset: back, options: {} }
    : back === undefined || back === null
    ? undefined
    : isMap(back)
    ? readOf(back, "read_back", wrong)
    : void wrong("'read_back' is neither a dataset's name nor a map with 'dataset'");
  return { output, options: without(block, WRITE_KEYS), mode, schemaPolicy, readBack };
}

function without(block: ConfigMap, keys: readonly string[]): ConfigMap {
  return Object.fromEntries(Object.entries(block).filter(([key]) => !keys.includes(key)));
}

function isMap(value: ConfigValue | undefined): value is ConfigMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
