import { type ErrorCode, PzError } from "../../errors/mod.ts";
import type { WatermarkCall } from "../../template/mod.ts";
import { ownValue, type SourceEntity } from "../entities.ts";
import type { Project } from "../../project/mod.ts";
import type { PipelineLinks } from "../links.ts";
import { entityKey } from "../names.ts";

/** The keys of the sources that are incremental because SQL calls `watermark()` for them. */
export type WatermarkedSources = ReadonlySet<string>;

/** The `watermark()` calls that a pipeline executes, those of its ephemerals included. */
export function watermarksOf({ query, ephemerals }: PipelineLinks): readonly WatermarkCall[] {
  return [query, ...ephemerals].flatMap(({ rendered }) => rendered.watermarks);
}

/** Checks that a `watermark()` call is for a source that the pipeline reads and that nothing else says how to resume. */
export function checkWatermarkCalls(
  project: Project,
  sources: readonly SourceEntity[],
  links: readonly PipelineLinks[],
): { readonly watermarked: WatermarkedSources; readonly errors: readonly PzError[] } {
  const byKey = new Map(sources.map((source) => [entityKey(source.connection.name, source.entity), source]));
  const watermarked = new Set<string>();
  const errors: PzError[] = [];
  for (const link of links) {
    const own = new Set(link.sources.map((source) => entityKey(source.connection, source.entity)));
    for (const call of watermarksOf(link)) {
      const key = entityKey(call.connection, call.entity);
      const what = `watermark('${call.connection}', '${call.entity}')`;
      const add = (code: ErrorCode, message: string, hint: string) =>
        errors.push(new PzError(code, `${what} ${message}`, { ...call.position, hint }));
      const sync = byKey.get(key)?.read.sync;
      if (ownValue(project.connections, call.connection) === undefined) {
        add("PZ0201", "names no connection", "name the connection and entity of a source() in this pipeline");
      } else if (!own.has(key)) {
        add(
          "PZ0224",
          "is for a source that this pipeline does not read",
          `read it by source('${call.connection}', '${call.entity}')`,
        );
      } else if (sync?.mode === "incremental") {
        add("PZ0225", "is for a source whose sync block is incremental already", "keep one of the two");
      } else if (sync !== undefined) {
        add("PZ0315", `is for a source with mode ${sync.mode}, which resumes in another way`, "remove one of the two");
      } else watermarked.add(key);
    }
  }
  return { watermarked, errors };
}
