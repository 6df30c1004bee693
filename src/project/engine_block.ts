import { parseByteSize } from "../util/mod.ts";
import { block, type BlockRules } from "./blocks.ts";
import type { EngineConfig } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { about, duration, flag, reportUnexpected, type Shape, text, whole, word } from "./shapes.ts";

const GIB = 1_073_741_824;

const DUCKDB = block({
  memory_limit: about("DuckDB's memory, such as 4GiB; 60 % of the machine unless set.", memorySize()),
  threads: about("DuckDB's threads; the processors that pz may use unless set.", whole(1)),
  temp_directory: about("Where DuckDB spills; a folder of the run unless set.", text("a folder")),
});

const BREAKER = block({
  failure_threshold: about("Transient failures in a row that open a connection's breaker.", whole(1)),
  cool_down: about("How long an open breaker waits before it tries again.", duration()),
}, { required: ["failure_threshold", "cool_down"] });

const FIELDS = {
  threads: about("Nodes that may run at the same time; 4 unless set.", whole(1)),
  batch_bytes: about(
    "Target size of a batch between connectors and DuckDB; 33554432 unless set.",
    whole(1_048_576, GIB / 2),
  ),
  force_universal: about("Never let DuckDB read or write files and databases by itself.", flag()),
  check_samples: about("Show sample rows of failing checks; true unless set.", flag()),
  duckdb: about("Settings of DuckDB.", DUCKDB),
  breaker: about("Stops asking a system that keeps failing; off unless set.", BREAKER),
  node_timeout: about("The longest that one attempt of one node may take.", duration()),
  staging: about(
    "'always' writes every result to staging first; 'auto' skips it where nothing needs it.",
    word("auto", "always"),
  ),
  preserve_order: about("Keep the order of rows as they came, at a cost.", flag()),
  sandbox: about("'require' refuses to run connectors where the sandbox is incomplete.", word("auto", "require")),
  channel_bytes: about(
    "Bytes in flight between connectors and DuckDB, for the whole process; 268435456 unless set.",
    whole(1_048_576, 64 * GIB),
  ),
};

const RULES: BlockRules = { code: "PZ0120" };
const SHAPE = block(FIELDS, RULES);

/** The settings of a project without `engine:`. */
export const DEFAULT_ENGINE: EngineConfig = {
  threads: 4,
  forceUniversal: false,
  checkSamples: true,
  duckdb: {},
  staging: "auto",
  preserveOrder: false,
  sandbox: "auto",
};

/** The `engine:` block with defaults filled in. */
export function engineShape(): Shape<EngineConfig> {
  return {
    schema: SHAPE.schema,
    read(node, scope) {
      const values = SHAPE.read(node, scope);
      if (values === undefined) return undefined;
      const { memory_limit: memoryLimit, threads, temp_directory: tempDirectory } = values.duckdb ?? {};
      const { failure_threshold: failureThreshold, cool_down: coolDownMs } = values.breaker ?? {};
      const breaker = failureThreshold === undefined || coolDownMs === undefined
        ? undefined
        : { failureThreshold, coolDownMs };
      return {
        threads: values.threads ?? DEFAULT_ENGINE.threads,
        forceUniversal: values.force_universal ?? DEFAULT_ENGINE.forceUniversal,
        checkSamples: values.check_samples ?? DEFAULT_ENGINE.checkSamples,
        duckdb: withoutUndefined({ memoryLimit, threads, tempDirectory }),
        staging: values.staging ?? DEFAULT_ENGINE.staging,
        preserveOrder: values.preserve_order ?? DEFAULT_ENGINE.preserveOrder,
        sandbox: values.sandbox ?? DEFAULT_ENGINE.sandbox,
        ...withoutUndefined({
          batchBytes: values.batch_bytes,
          breaker,
          nodeTimeoutMs: values.node_timeout,
          channelBytes: values.channel_bytes,
        }),
      };
    },
  };
}

/** Below this DuckDB can't even open its staging database and say what is too large for it. */
const MIN_MEMORY_BYTES = 16 * 1000 ** 2;
const TOO_LITTLE = "DuckDB can't work with less; a few hundred MB is a sound minimum.";

/** A size as DuckDB takes it, with its unit. */
function memorySize(): Shape<string> {
  return {
    schema: { type: "string" },
    read(node, scope) {
      const text = node.kind === "scalar" ? node.text : "";
      const bytes = parseByteSize(text);
      if (bytes !== undefined && bytes >= MIN_MEMORY_BYTES) return text;
      if (bytes === undefined || bytes === 0) reportUnexpected(node, scope, "a size such as 4GiB or 512MB");
      else reportUnexpected(node, scope, "at least 16MB", TOO_LITTLE);
      return undefined;
    },
  };
}
