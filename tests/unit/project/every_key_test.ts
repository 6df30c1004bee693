import assert from "node:assert/strict";
import fc from "fast-check";
import { load, place } from "./helpers.ts";

/** What stands at a key: what else would be wrong there, and whether nothing may stand there. */
type Kind = { readonly wrong: string; readonly emptyIsDefault?: true };

const TEXT: Kind = { wrong: "[1]" };
const WHOLE: Kind = { wrong: "many" };
const FLAG: Kind = { wrong: "perhaps" };
const DURATION: Kind = { wrong: "5 m" };
const WORD: Kind = { wrong: "nonsense" };
const BLOCK: Kind = { wrong: "[1]", emptyIsDefault: true };
const FULL_BLOCK: Kind = { wrong: "[1]" };
const LIST: Kind = { wrong: "{ a: 1 }", emptyIsDefault: true };

/** Each line of a file with one key: its text, the kind of its value, the code of its problems, and of a typo's. */
type Line = { readonly text: string; readonly kind?: Kind; readonly code?: string; readonly typo?: string };

function line(text: string, kind: Kind, code = "PZ0101", typo = code): Line {
  return { text, kind, code, typo };
}

const PROJECT: readonly Line[] = [
  line("name: demo", TEXT),
  line("version: 1.0.0", TEXT),
  line("pz: '>=1.0'", TEXT),
  line("connectors:", LIST),
  line("  - package: Pz.Extra", TEXT),
  line("    version: 2.0.1", TEXT),
  line("vars:", BLOCK, "PZ0102", "PZ0101"),
  { text: "  floor: 10" },
  line("engine:", BLOCK, "PZ0120", "PZ0101"),
  line("  threads: 2", WHOLE, "PZ0120"),
  line("  batch_bytes: 2097152", WHOLE, "PZ0120"),
  line("  force_universal: false", FLAG, "PZ0120"),
  line("  check_samples: true", FLAG, "PZ0120"),
  line("  duckdb:", BLOCK, "PZ0120"),
  line("    memory_limit: 4GiB", { wrong: "lots" }, "PZ0120"),
  line("    threads: 2", WHOLE, "PZ0120"),
  line("    temp_directory: tmp", TEXT, "PZ0120"),
  line("  breaker:", FULL_BLOCK, "PZ0120"),
  line("    failure_threshold: 3", WHOLE, "PZ0120"),
  line("    cool_down: 30s", DURATION, "PZ0120"),
  line("  node_timeout: 45m", DURATION, "PZ0120"),
  line("  staging: always", WORD, "PZ0120"),
  line("  preserve_order: true", FLAG, "PZ0120"),
  line("  sandbox: auto", WORD, "PZ0120"),
  line("  channel_bytes: 2097152", WHOLE, "PZ0120"),
  line("retention:", FULL_BLOCK, "PZ0123", "PZ0101"),
  line("  keep_last: 5", WHOLE, "PZ0123"),
  line("state:", BLOCK, "PZ0124", "PZ0101"),
  line("  backend: sqlserver", WORD, "PZ0124"),
  line("  connection: mart", TEXT, "PZ0124"),
  line("  schema: pz", TEXT, "PZ0124"),
  line("  artifacts: true", FLAG, "PZ0124"),
  line("  events: false", FLAG, "PZ0124"),
  line("on_source_drift: warn", WORD, "PZ0126", "PZ0101"),
];

const HTTP_STATE: readonly Line[] = [
  { text: "name: demo" },
  { text: "version: 1.0.0" },
  { text: "state:" },
  line("  backend: http", WORD, "PZ0124"),
  line("  url: https://state.example.com", TEXT, "PZ0124"),
  line("  timeout_seconds: 5", WHOLE, "PZ0124"),
  line("  artifacts: false", FLAG, "PZ0124"),
];

const CONNECTIONS: readonly Line[] = [
  line("mart:", FULL_BLOCK, "PZ0101", "none"),
  line("  connector: sqlserver", TEXT),
  line("  entities:", BLOCK),
  line("    orders:", FULL_BLOCK, "PZ0101", "none"),
  line("      read:", BLOCK),
  line("        columns:", BLOCK, "PZ0101", "warning"),
  line("          id: bigint", TEXT, "PZ0101", "none"),
  line("          total:", FULL_BLOCK, "PZ0101", "none"),
  line("            type: decimal", TEXT),
  line("            lossy: allow", WORD),
  line("        sync:", FULL_BLOCK, "PZ0334", "warning"),
  line("          mode: incremental", WORD, "PZ0334"),
  line("          cursor: id", TEXT, "PZ0334"),
  line("          initial: 0", TEXT, "PZ0334"),
  line("          max_window: 100", TEXT, "PZ0334"),
  line("          until: 1000", TEXT, "PZ0334"),
  line("          lookback: 10", { wrong: "soon" }, "PZ0334"),
  line("          null_cursor: skip", WORD, "PZ0334"),
  line("        retry:", BLOCK, "PZ0121", "warning"),
  line("          max_attempts: 3", WHOLE, "PZ0121"),
  line("          base_delay: 1s", DURATION, "PZ0121"),
  line("          max_delay: 30s", DURATION, "PZ0121"),
  line("      write:", BLOCK),
  line("        strategy: merge", WORD, "PZ0334", "warning"),
  line("        keys: [id]", LIST, "PZ0101", "warning"),
  line("        duplicates: accept", WORD, "PZ0334", "warning"),
  line("        on_delete: soft", WORD, "PZ0334", "warning"),
  line("        schema_policy: additive", WORD, "PZ0334", "warning"),
  line("        order_by: [id]", LIST, "PZ0334", "warning"),
  line("        skip_unchanged: true", FLAG, "PZ0334", "warning"),
  line("        checkpoint_rows: 1000", WHOLE, "PZ0334", "warning"),
  line("        retry:", BLOCK, "PZ0121", "warning"),
  line("          max_attempts: 3", WHOLE, "PZ0121"),
  line("    changes:", FULL_BLOCK, "PZ0101", "none"),
  line("      read:", BLOCK),
  line("        sync:", FULL_BLOCK, "PZ0334", "warning"),
  line("          mode: cdc", WORD, "PZ0334"),
  line("          slot: s", TEXT, "PZ0334"),
  line("  max_concurrency: 2", WHOLE, "PZ0122", "PZ0101"),
  line("  rate_limit:", FULL_BLOCK, "PZ0318", "PZ0101"),
  line("    requests_per_minute: 60", WHOLE, "PZ0318"),
  line("    burst: 2", WHOLE, "PZ0318"),
  line("  retry:", BLOCK, "PZ0121", "PZ0101"),
  line("    max_attempts: 3", WHOLE, "PZ0121"),
  line("    base_delay: 1s", DURATION, "PZ0121"),
  line("    max_delay: 30s", DURATION, "PZ0121"),
  line("  allow_unsigned_extensions: true", FLAG),
];

const SIDECAR: readonly Line[] = [
  line("pipeline: x", TEXT),
  line("materialization: view", WORD, "PZ0134", "PZ0101"),
  line("tags: [a]", LIST),
  line("checks:", LIST, "PZ0113", "PZ0101"),
  line("  - not_null:", { wrong: "id" }, "PZ0113"),
  line("      column: id", TEXT, "PZ0113"),
  line("      sample_values: false", FLAG, "PZ0113"),
  line("      severity: gate", WORD, "PZ0113"),
  line("  - unique:", { wrong: "id" }, "PZ0113"),
  line("      columns: [id]", { wrong: "{ a: 1 }" }, "PZ0113"),
  line("  - row_count:", { wrong: "[1]" }, "PZ0113"),
  line("      min: 1", WHOLE, "PZ0113"),
  line("      max: 2", WHOLE, "PZ0113"),
  line("  - freshness:", { wrong: "5" }, "PZ0113"),
  line("      column: at", TEXT, "PZ0113"),
  line("      max_age: 1h", DURATION, "PZ0113"),
  line("  - accepted_values:", { wrong: "5" }, "PZ0113"),
  line("      column: at", TEXT, "PZ0113"),
  line("      values: [1]", { wrong: "1" }, "PZ0113"),
  line("  - custom_sql:", { wrong: "[1]" }, "PZ0113"),
  line("      name: a", TEXT, "PZ0113"),
  line("      sql: select 1", TEXT, "PZ0113"),
];

const FILES: { readonly [name: string]: { readonly path: string; readonly lines: readonly Line[] } } = {
  project: { path: "project.yml", lines: PROJECT },
  "http state": { path: "project.yml", lines: HTTP_STATE },
  connections: { path: "connections.yml", lines: CONNECTIONS },
  sidecar: { path: "pipelines/configs/x.yml", lines: SIDECAR },
};

const BASE = {
  "project.yml": "name: demo\nversion: 1.0.0\n",
  "connections.yml": "mart:\n  connector: sqlserver\n",
  "pipelines/x.sql": "select 1",
};

/** A line's parts: what stands before the key (indentation, a dash), the key, and the value. */
function partsOf(text: string): { readonly lead: string; readonly key: string; readonly value: string } {
  const match = /^([ -]*)([A-Za-z_]+):(?: (.*))?$/.exec(text);
  assert.ok(match !== null, text);
  return { lead: match[1] ?? "", key: match[2] ?? "", value: match[3] ?? "" };
}

/** The file with one line replaced and everything below its key removed. */
function withLine(lines: readonly Line[], index: number, text: string, keepBelow: boolean): string {
  const depth = partsOf(lines[index]?.text ?? "").lead.length;
  const below = lines.slice(index + 1).findIndex(({ text: other }) => partsOf(other).lead.length <= depth);
  // The parts of a list item stand as deep as its first key, so they are below a list only.
  const end = below < 0 ? lines.length : index + 1 + below;
  const rest = keepBelow ? lines.slice(index + 1) : lines.slice(end);
  return [...lines.slice(0, index).map((other) => other.text), text, ...rest.map((other) => other.text), ""].join("\n");
}

async function problemsOf(
  path: string,
  content: string,
): Promise<{ readonly errors: readonly string[]; readonly warnings: readonly string[] }> {
  const outcome = await load({ ...BASE, [path]: content });
  return outcome.ok
    ? { errors: [], warnings: outcome.warnings.map(place) }
    : { errors: outcome.errors.map(place), warnings: [] };
}

function assertHas(found: readonly string[], code: string, at: string, what: string): void {
  const hit = found.some((text) => text.startsWith(`${code} ${at} `));
  assert.ok(hit, `${what}: expected ${code} at ${at}, found\n${found.join("\n")}`);
}

for (const [name, { path, lines }] of Object.entries(FILES)) {
  Deno.test(`the ${name} file with every key loads`, async () => {
    const { errors, warnings } = await problemsOf(path, lines.map(({ text }) => text).join("\n"));
    assert.deepEqual([...errors, ...warnings], []);
  });

  Deno.test(`a wrong type at any key of the ${name} file is reported at the value`, async () => {
    for (const [index, { text, kind, code }] of lines.entries()) {
      if (kind === undefined || code === undefined) continue;
      const { lead, key } = partsOf(text);
      const at = `${path}:${index + 1}:${lead.length + key.length + 3}`;
      const content = withLine(lines, index, `${lead}${key}: ${kind.wrong}`, false);
      assertHas((await problemsOf(path, content)).errors, code, at, text);
    }
  });

  Deno.test(`a missing value at any key of the ${name} file is reported at the key, or means the default`, async () => {
    for (const [index, { text, kind, code }] of lines.entries()) {
      if (kind === undefined || code === undefined) continue;
      const { lead, key } = partsOf(text);
      const { errors } = await problemsOf(path, withLine(lines, index, `${lead}${key}:`, false));
      const at = `${path}:${index + 1}:${lead.length + 1}`;
      if (kind.emptyIsDefault) assert.deepEqual(errors, [], text);
      else assertHas(errors, code, at, text);
    }
  });

  Deno.test(`a typo in any key of the ${name} file is reported at the key`, async () => {
    const keys = [...lines.entries()].filter(([, { typo }]) => typo !== undefined && typo !== "none");
    const known = new Set(lines.map(({ text }) => partsOf(text).key));
    const letter = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz_");
    const typo = fc.record({
      of: fc.constantFrom(...keys),
      at: fc.nat(),
      letter,
      how: fc.constantFrom("add", "drop", "put"),
    });
    await fc.assert(
      fc.asyncProperty(typo, async ({ of: [index, { text, typo: code }], at, letter, how }) => {
        const { lead, key, value } = partsOf(text);
        const place = at % key.length;
        const wrong = key.slice(0, place) + (how === "drop" ? "" : letter) +
          key.slice(how === "add" ? place : place + 1);
        fc.pre(wrong !== "" && !known.has(wrong) && !["column", "columns", "min", "max"].includes(wrong));
        const content = withLine(lines, index, `${lead}${wrong}:${value === "" ? "" : ` ${value}`}`, true);
        const { errors, warnings } = await problemsOf(path, content);
        const where = `${path}:${index + 1}:${lead.length + 1}`;
        if (code === "warning" && errors.length === 0) assertHas(warnings, "PZ0101", where, wrong);
        else if (code !== "warning") assertHas(errors, code ?? "", where, wrong);
      }),
      { numRuns: 150 },
    );
  });
}
