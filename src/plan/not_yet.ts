import type { SinkWriteNode, SourceLoadNode } from "../compile/mod.ts";
import { type Refusal, refusal } from "./refusal.ts";

/** PZ0700 for what a read asks for and pz understands but does not do yet. */
export function notYetSource(node: SourceLoadNode): readonly Refusal[] {
  const name = `${node.connection.name}.${node.entity}`;
  const { sync } = node.read;
  if (sync === undefined || sync.mode === "auto") return [];
  return [
    refusal(
      node,
      "PZ0700",
      `'sync: { mode: ${sync.mode} }' of '${name}' does not run yet`,
      "remove sync to read everything",
    ),
  ];
}

/** PZ0700 for what a write asks for and pz understands but does not do yet. */
export function notYetSink(node: SinkWriteNode): readonly Refusal[] {
  const { write } = node;
  const asked = [
    ...(write.strategy === "merge" ? ["strategy: merge"] : []),
    ...(write.orderBy === undefined ? [] : ["order_by"]),
    ...(write.skipUnchanged === true ? ["skip_unchanged"] : []),
    ...(write.checkpointRows === undefined ? [] : ["checkpoint_rows"]),
  ];
  return asked.map((what) =>
    refusal(node, "PZ0700", `'${what}' of '${node.name}' does not run yet`, `remove '${what}'`)
  );
}
