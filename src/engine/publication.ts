import type { SinkWriteNode } from "../compile/mod.ts";
import { findConnector, type NativeCopy } from "../connectors/mod.ts";
import { outputSpec } from "../plan/mod.ts";

/**
 * How a run would publish an output, and where; undefined where its connector does not tell, or refuses the output as it is
 * declared.
 */
export function publication(
  node: SinkWriteNode,
  projectRoot: string,
  run: string,
): Pick<NativeCopy, "moves" | "target"> | undefined {
  const connector = findConnector(node.connection.connector);
  if (connector === undefined || connector === "planned" || !connector.canWrite) return undefined;
  const spec = outputSpec(node, { run, ordinal: 1 });
  const copy = connector.nativeCopy(spec, { projectRoot });
  if (copy?.ok === true) return copy.value;
  const written = connector.universalWrite?.(spec, { projectRoot });
  return written?.ok === true ? written.value : undefined;
}
