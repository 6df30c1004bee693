import type { PzError } from "../../errors/mod.ts";
import type { Project } from "../../project/mod.ts";
import type { SinkEntity, SourceEntity } from "../entities.ts";
import type { PipelineLinks } from "../links.ts";
import { checkPairs } from "./pairing.ts";
import { checkRead } from "./read_rules.ts";
import { checkWatermarkCalls } from "./watermark_calls.ts";
import { checkWrite } from "./write_rules.ts";

/** Checks what the reads and writes of a project say, each by itself and together; sources come back with one text for each value. */
export function checkSemantics(
  project: Project,
  sources: readonly SourceEntity[],
  sinks: readonly SinkEntity[],
  links: readonly PipelineLinks[],
  canMerge: (connector: string) => boolean,
): {
  readonly sources: readonly SourceEntity[];
  readonly errors: readonly PzError[];
  readonly notices: readonly string[];
} {
  const reads = sources.map(checkRead);
  const { watermarked, errors } = checkWatermarkCalls(project, sources, links);
  const pairs = checkPairs(sources, sinks, links, watermarked);
  return {
    sources: reads.map(({ source }) => source),
    errors: [
      ...reads.flatMap((read) => read.errors),
      ...sinks.flatMap((sink) => checkWrite(sink, canMerge(sink.connection.connector))),
      ...errors,
      ...pairs.errors,
    ],
    notices: [...reads.flatMap((read) => read.notices), ...pairs.notices],
  };
}
