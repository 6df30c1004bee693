import { type ErrorCode, PzError } from "../../errors/mod.ts";
import { ordinal } from "../../util/mod.ts";
import type { SinkEntity, SourceEntity } from "../entities.ts";
import type { PipelineLinks } from "../links.ts";
import { entityKey } from "../names.ts";
import type { WatermarkedSources } from "./watermark_calls.ts";

type Feeding = { readonly source: SourceEntity; readonly shape: "full" | "incremental" | "cdc" };

/**
 * Checks every output against how the sources behind it are read, through all refs of the whole project: what would
 * lose or repeat rows is refused, or needs `duplicates: accept`.
 */
export function checkPairs(
  sources: readonly SourceEntity[],
  sinks: readonly SinkEntity[],
  links: readonly PipelineLinks[],
  watermarked: WatermarkedSources,
): { readonly errors: readonly PzError[]; readonly notices: readonly string[] } {
  const special = sources.some((source) => {
    const watched = watermarked.has(entityKey(source.connection.name, source.entity));
    return source.read.sync !== undefined || watched;
  });
  // What can be said of reads in full needs no look at what lies behind which output.
  if (!special && sinks.every(({ write }) => write.onDelete === undefined)) return { errors: [], notices: [] };
  const byKey = new Map(sources.map((source) => [entityKey(source.connection.name, source.entity), source]));
  const byName = new Map(links.map((link) => [link.query.rendered.pipeline.name, link]));
  const errors: PzError[] = [];
  const autoFed = new Set<string>();
  for (const sink of sinks) {
    const feeding: Feeding[] = sourcesBehind(sink.pipeline, byName).flatMap((key) => {
      const source = byKey.get(key);
      return source === undefined ? [] : [{ source, shape: shapeOf(source, watermarked.has(key)) }];
    });
    errors.push(...pairErrors(sink, feeding));
    if (sink.write.strategy === "merge" || sink.write.acceptDuplicates) continue;
    for (const { source } of feeding) if (source.read.sync?.mode === "auto") autoFed.add(nameOf(source));
  }
  const notices = [...autoFed].sort(ordinal).map((name) =>
    `'${name}' is read with mode auto: if its connector continues where it stopped, its outputs need ` +
    "strategy merge or duplicates: accept"
  );
  return { errors, notices };
}

/** Keys of the sources that a pipeline reads, through every ref, in ordinal order. */
function sourcesBehind(pipeline: string, links: ReadonlyMap<string, PipelineLinks>): readonly string[] {
  const reached = new Set([pipeline]);
  const keys = new Set<string>();
  for (const name of reached) {
    const link = links.get(name);
    for (const ref of link?.refs ?? []) reached.add(ref);
    for (const source of link?.sources ?? []) keys.add(entityKey(source.connection, source.entity));
  }
  return [...keys].sort(ordinal);
}

function shapeOf({ read: { sync } }: SourceEntity, watermarked: boolean): Feeding["shape"] {
  if (sync?.mode === "cdc") return "cdc";
  return sync?.mode === "incremental" || watermarked ? "incremental" : "full";
}

function nameOf(entity: SourceEntity | SinkEntity): string {
  return `${entity.connection.name}.${entity.entity}`;
}

function pairErrors(sink: SinkEntity, feeding: readonly Feeding[]): readonly PzError[] {
  const { write } = sink;
  const errors: PzError[] = [];
  const add = (code: ErrorCode, message: string, hint: string) =>
    errors.push(new PzError(code, `output '${nameOf(sink)}': ${message}`, { ...sink.position, hint }));
  const incremental = feeding.find(({ shape }) => shape === "incremental");
  const cdc = feeding.find(({ shape }) => shape === "cdc");
  if (incremental !== undefined) {
    const from = `'${nameOf(incremental.source)}' is read incrementally`;
    if (write.strategy === "replace") {
      add(
        "PZ0335",
        `${from}, and strategy 'replace' would leave only the newest rows`,
        "use strategy 'merge' with keys",
      );
    } else if (write.strategy === "append" && !write.acceptDuplicates) {
      add(
        "PZ0214",
        `${from}, and a repeated append would repeat rows`,
        "use strategy 'merge' with keys, or accept that by duplicates: 'accept'",
      );
    }
  }
  if (cdc !== undefined && write.strategy !== "merge") {
    add(
      "PZ0335",
      `'${nameOf(cdc.source)}' is read as changes, which strategy '${write.strategy}' can't apply`,
      "use strategy 'merge' with keys and on_delete",
    );
  } else if (cdc !== undefined && write.onDelete === undefined) {
    add(
      "PZ0336",
      `'${nameOf(cdc.source)}' may report deleted rows, and on_delete is missing`,
      "write on_delete: 'delete', 'soft' or 'ignore'",
    );
  }
  if (write.onDelete !== undefined && cdc === undefined) {
    add(
      "PZ0337",
      `on_delete is '${write.onDelete}', but no source behind it is read with mode cdc`,
      "remove on_delete",
    );
  } else if ((write.onDelete === "delete" || write.onDelete === "soft") && feeding.length > 1) {
    add(
      "PZ0337",
      `on_delete is '${write.onDelete}', but ${feeding.length} sources lie behind it (${
        feeding.map(({ source }) => `'${nameOf(source)}'`).join(", ")
      }), so a deleted row can't be told`,
      "load the changes of one source, or write on_delete: 'ignore'",
    );
  }
  return errors;
}
