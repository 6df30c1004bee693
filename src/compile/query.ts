import { PzError } from "../errors/mod.ts";
import type { RenderedPipeline, SegmentMap, SinkCall } from "../template/mod.ts";
import { toLf } from "./line_ends.ts";
import { entityKey } from "./names.ts";
import { cutSinkPrefix } from "./sink_prefix.ts";
import { trimQuery } from "./sql_text.ts";

/** A rendered pipeline with its query: LF line ends, no `INSERT INTO` prefix, no closing `;`. */
export type PipelineQuery = {
  readonly rendered: RenderedPipeline;
  readonly sql: string;
  /** The query as it is hashed: the values of a single run replaced by fixed texts. */
  readonly identitySql: string;
  /** The query as artifacts show it. */
  readonly shownSql: string;
  /** Takes offsets of `sql` to the template. */
  readonly map: SegmentMap;
};

/** Cuts a rendered text down to its query, or says why its sink calls are misplaced (PZ0208). */
export function queryOf(rendered: RenderedPipeline): PipelineQuery | readonly PzError[] {
  const text = toLf(rendered.sql);
  const errors = sinkCallErrors(rendered);
  if (errors.length > 0) return errors;
  const cut = cutSinkPrefix(text.text, rendered.sinks);
  if (!cut.ok) {
    const place = cut.at === undefined ? rendered.sinks[0]?.position : rendered.map.positionAt(
      text.originalOffset(cut.at),
    );
    return [
      new PzError("PZ0208", `pipeline '${rendered.pipeline.name}': ${cut.message}`, { ...place, hint: cut.hint }),
    ];
  }
  const { start } = cut;
  const sql = trimQuery(text.text.slice(start));
  const formOf = (form: string) => form === rendered.sql ? sql : queryText(rendered, form);
  return {
    rendered,
    sql,
    identitySql: formOf(rendered.identitySql),
    shownSql: formOf(rendered.shownSql),
    map: { positionAt: (offset) => rendered.map.positionAt(text.originalOffset(start + offset)) },
  };
}

/** The query of another form of a rendered text, whose prefix is known to be right. */
function queryText(rendered: RenderedPipeline, form: string): string {
  const { text } = toLf(form);
  const cut = cutSinkPrefix(text, rendered.sinks);
  return trimQuery(cut.ok ? text.slice(cut.start) : text);
}

function sinkCallErrors(rendered: RenderedPipeline): readonly PzError[] {
  const { pipeline, sinks } = rendered;
  const first = sinks[0];
  if (first === undefined) return [];
  if (pipeline.materialization === "ephemeral") {
    return [
      new PzError("PZ0208", `pipeline '${pipeline.name}' is ephemeral and can't load into a sink`, {
        ...first.position,
        hint:
          `set 'materialization: table' for '${pipeline.name}', or move the sink() call into a pipeline that refs it`,
      }),
    ];
  }
  const seen = new Set<string>();
  const errors: PzError[] = [];
  for (const sink of sinks) {
    const key = entityKey(sink.connection, sink.entity);
    if (seen.has(key)) {
      errors.push(
        new PzError("PZ0208", `pipeline '${pipeline.name}' names the output '${outputName(sink)}' twice`, {
          ...sink.position,
          hint: "call sink() once for each output",
        }),
      );
    }
    seen.add(key);
  }
  return errors;
}

/** `connection.entity` of a sink call, as messages show it. */
export function outputName(sink: Pick<SinkCall, "connection" | "entity">): string {
  return `${sink.connection}.${sink.entity}`;
}
