import type { Check, Connection, PipelineFile, Project, ReadBlock, WriteBlock } from "../../../src/project/mod.ts";
import type { RenderedPipeline, SinkCall, SourceCall, WatermarkCall } from "../../../src/template/mod.ts";
import { buildDag } from "../../../src/compile/build_dag.ts";
import { type CompiledDag, Workbench } from "../../../src/compile/mod.ts";
import { formatError, type PzError } from "../../../src/errors/mod.ts";

const AT = { file: "connections.yml", line: 1, column: 1 };

export const ENGINE: Project["engine"] = {
  threads: 4,
  forceUniversal: false,
  checkSamples: true,
  duckdb: {},
  staging: "auto",
  preserveOrder: false,
  sandbox: "auto",
};

export function connection(name: string, entities: Connection["entities"] = {}, connector = "localfiles"): Connection {
  return { name, connector, config: {}, entities, allowUnsignedExtensions: false, position: AT };
}

/** Columns from `id int, name varchar`. */
export function columns(text: string): ReadBlock["columns"] & object {
  return text.split(/,(?![^(]*\))/).map((part) => {
    const [name = "", ...type] = part.trim().split(" ");
    return { name, type: type.join(" ") };
  });
}

export function readEntity(name: string, contract?: string): Connection["entities"] {
  const read: ReadBlock = { options: {}, ...(contract === undefined ? {} : { columns: columns(contract) }) };
  return { [name]: { name, read, position: AT } };
}

export type PipelineInit = Partial<Omit<PipelineFile, "name" | "template">>;

export function pipeline(name: string, template: string, init: PipelineInit = {}): PipelineFile {
  return { name, file: `pipelines/${name}.sql`, template, materialization: "table", tags: [], checks: [], ...init };
}

export function check(type: Check["type"], init: Partial<Check> = {}): Check {
  return {
    type,
    columns: [],
    severity: "alert",
    position: { file: "pipelines/configs/c.yml", line: 1, column: 1 },
    ...init,
  };
}

export function project(
  connections: readonly Connection[],
  pipelines: readonly PipelineFile[],
  init: Partial<Project> = {},
): Project {
  return {
    root: "/project",
    name: "demo",
    version: "1",
    connectors: [],
    vars: {},
    engine: ENGINE,
    keepLast: undefined,
    state: { backend: "local" },
    onSourceDrift: "ignore",
    connections: Object.fromEntries(connections.map((item) => [item.name, item])),
    pipelines: [...pipelines].sort((a, b) => a.file < b.file ? -1 : 1),
    ...init,
  };
}

/**
 * Stands in for the template engine: knows `{{ source('c', 'e') }}`, `{{ ref('p') }}`, `{{ sink('c', 'e') }}` and
 * `{{ run_id }}` and `{{ watermark('c', 'e') }}`; the options of calls are given by their text.
 */
export function render(
  file: PipelineFile,
  all: readonly PipelineFile[],
  options: { readonly [call: string]: ReadBlock | WriteBlock } = {},
): RenderedPipeline {
  const sources: SourceCall[] = [];
  const sinks: SinkCall[] = [];
  const watermarks: WatermarkCall[] = [];
  const refs: { pipeline: string; position: SourceCall["position"] }[] = [];
  const marks: { rendered: number; template: number }[] = [{ rendered: 0, template: 0 }];
  let sql = "";
  let identitySql = "";
  let last = 0;
  for (const match of file.template.matchAll(/\{\{ (\w+)(?:\('(\w+)'(?:, '([^']+)')?\))? \}\}/g)) {
    const [text, name, first = "", second = ""] = match;
    const before = file.template.slice(last, match.index);
    const position = positionOf(file, match.index);
    let out = "";
    let identity: string | undefined;
    if (name === "source") {
      const read = options[text];
      sources.push({
        connection: first,
        entity: second,
        read: read !== undefined && !("strategy" in read) ? read : undefined,
        position,
      });
      out = `staging.src_${first}__${second.replaceAll(/[^A-Za-z0-9_]/g, "_")}`;
    } else if (name === "ref") {
      refs.push({ pipeline: first, position });
      const target = all.find((other) => other.name === first);
      out = target?.materialization === "ephemeral" ? `__pz_cte__${first}` : `staging.${first}`;
    } else if (name === "sink") {
      const write = options[text];
      out = `__pz_sink__${first}__${second}__`;
      sinks.push({
        connection: first,
        entity: second,
        write: write !== undefined && "strategy" in write ? write : undefined,
        marker: out,
        position,
      });
    } else if (name === "watermark") {
      const sentinel = `__pz_watermark__${first}__${second}`;
      watermarks.push({ connection: first, entity: second, sentinel, position });
      out = `'${sentinel}'`;
    } else {
      out = "'20270101T000000000Z-0000'";
      identity = "'<run_id>'";
    }
    sql += before + out;
    identitySql += before + (identity ?? out);
    last = match.index + text.length;
    marks.push({ rendered: sql.length - out.length, template: match.index }, { rendered: sql.length, template: last });
  }
  sql += file.template.slice(last);
  identitySql += file.template.slice(last);
  return {
    pipeline: file,
    sql,
    sources,
    refs,
    sinks,
    map: {
      positionAt: (offset) => {
        const mark = marks.findLast(({ rendered }) => rendered <= offset) ?? { rendered: 0, template: 0 };
        return positionOf(file, mark.template + offset - mark.rendered);
      },
    },
    usesRunIdentity: sql !== identitySql,
    identitySql,
    shownSql: sql,
    watermarks,
    secrets: [],
  };
}

function positionOf(file: PipelineFile, offset: number): SourceCall["position"] {
  const lines = file.template.slice(0, offset).split("\n");
  return { file: file.file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

export type Options = { readonly [call: string]: ReadBlock | WriteBlock };

export async function build(of: Project, options: Options = {}) {
  await using workbench = new Workbench();
  return await buildDag(of, of.pipelines.map((file) => render(file, of.pipelines, options)), { workbench });
}

/** The DAG of a project that compiles. */
export async function dagOf(of: Project, options: Options = {}): Promise<CompiledDag> {
  const outcome = await build(of, options);
  if (!outcome.ok) throw new Error(outcome.errors.map(formatError).join("\n"));
  return outcome.value;
}

/** What a project that does not compile is told, without hints. */
export async function errorsOf(of: Project, options: Options = {}): Promise<readonly string[]> {
  const outcome = await build(of, options);
  return outcome.ok ? [] : outcome.errors.map(withoutHint);
}

export function withoutHint(error: PzError): string {
  return formatError(error).split(" — hint: ")[0] ?? "";
}
