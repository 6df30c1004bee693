import type { SinkWriteNode } from "../../compile/mod.ts";
import { ConnectorError } from "../../connectors/mod.ts";
import { type Delivery, StepError } from "../failure.ts";
import type { NodeContext } from "../run_context.ts";
import type { DeliveryAccount } from "./delivery_account.ts";
import type { WriteGroup } from "./write_group.ts";

/** A write as far as it has come. */
export type Written = {
  readonly node: SinkWriteNode;
  readonly group: WriteGroup;
  /** How many of the first rows an earlier attempt has delivered. */
  readonly resumed: number;
  readonly account: DeliveryAccount | undefined;
};

/** A merge may count otherwise; else what was sent and what was committed are the same, or somebody should look. */
export function warnOfDifference(
  { run }: NodeContext,
  { name, connection, write }: SinkWriteNode,
  { sent, committed }: {
    readonly sent: number;
    readonly committed: bigint;
  },
): void {
  if (write.strategy === "merge" || committed === BigInt(sent)) return;
  const message = `'${name}' got ${sent} row(s), and its connector says that it committed ${committed}`;
  run.bus.publish({ event: "connector_log", level: "warn", connection: connection.name, message });
}

/**
 * A connector says of a commit that failed whether it may have taken place; else a write failed, which came to light
 * late. Either way a part may be there when another write of the group has committed before.
 */
export function commitFailure(error: unknown, written: Written): StepError {
  const { node: { write }, group } = written;
  const said = error instanceof ConnectorError ? error.outcomeUnknown ?? "never tried" : true;
  if (said === "never tried" && !group.hasCommitted) return new StepError("write", error, exposure(written));
  const outcomeUnknown = said === true || group.hasCommitted;
  const repeatable = !outcomeUnknown || write.strategy !== "append" || group.provesAttempt;
  return new StepError("commit", error, { outcomeUnknown, repeatable, ...exposure(written) });
}

/** What a failed write may have left behind, where its target can't take everything back. */
export function exposure({ group, resumed, account }: Written): { readonly delivery?: Delivery } {
  const { abortSemantics, rowsSent, acknowledgedRows } = group;
  if (abortSemantics === "discards_all") return {};
  const rowsVisible = account === undefined ? rowsSent : Math.max(resumed, Number(acknowledgedRows));
  return { delivery: { abortSemantics, rowsVisible, resumedRows: resumed } };
}
