import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { type ReadOptions, readOptions as readSharedOptions } from "../shared/read_options.ts";
import type { ZeroDates } from "./values.ts";

/** The options of a read, checked. */
export type MysqlReadOptions = ReadOptions & { readonly zeroDates: ZeroDates };

/** Reads the options of a read. */
export function readOptions(options: ConfigMap): MysqlReadOptions {
  const shared = readSharedOptions(options);
  const given = options["zero_dates"];
  if (given === undefined || given === "fail") return { ...shared, zeroDates: "fail" };
  // Without quotes, YAML's null is no text.
  if (given === null || given === "null") return { ...shared, zeroDates: "null" };
  const problem: ConfigProblem = {
    code: "PZ0301",
    message: `Option "zero_dates" is ${typeof given === "object" ? "no text" : `"${given}"`}`,
    option: "zero_dates",
    hint: "expected one of fail, null",
  };
  return { ...shared, zeroDates: "fail", problems: [...shared.problems, problem] };
}
