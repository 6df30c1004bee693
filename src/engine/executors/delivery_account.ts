import type { SinkWriteNode } from "../../compile/mod.ts";
import { type Fingerprint, fingerprint, isSameContent, LEDGER_SETUP, SinkDeliveryLedger } from "../../staging/mod.ts";
import { faultPoint } from "../../util/mod.ts";
import type { NodeContext } from "../run_context.ts";
import type { WriteGroup } from "./write_group.ts";
import type { WriteInput } from "./write_input.ts";

/**
 * What an output's destination has confirmed for good, kept beside the rows in staging, so that another attempt sends
 * what comes behind it. Only counts that the destination confirmed are kept.
 */
export class DeliveryAccount {
  readonly #context: NodeContext;
  readonly #node: SinkWriteNode;
  readonly #ledger: SinkDeliveryLedger;
  readonly #content: Fingerprint;
  /** Of the same content, by an earlier attempt; undefined: of another. */
  readonly #known: bigint | undefined;
  /** Whether an earlier attempt has begun to deliver this content. */
  readonly #isBegun: boolean;
  #acknowledged = 0n;
  #saved = -1n;
  #saving: Promise<void> = Promise.resolve();

  private constructor(
    context: NodeContext,
    node: SinkWriteNode,
    facts: {
      readonly ledger: SinkDeliveryLedger;
      readonly content: Fingerprint;
      readonly known: bigint | undefined;
      readonly isBegun: boolean;
    },
  ) {
    this.#context = context;
    this.#node = node;
    this.#ledger = facts.ledger;
    this.#content = facts.content;
    this.#known = facts.known;
    this.#isBegun = facts.isBegun;
  }

  /** Looks at the rows to deliver, and at what is known of them. */
  static async open(context: NodeContext, node: SinkWriteNode, input: WriteInput): Promise<DeliveryAccount> {
    const { run, connection, signal } = context;
    await run.staging.setup(LEDGER_SETUP);
    const ledger = new SinkDeliveryLedger(node.id);
    const content = await fingerprint(connection, input.table, { placed: input.orderBy !== undefined, signal });
    const earlier = await ledger.read(connection);
    const isSame = earlier === undefined || isSameContent(earlier.of, content);
    const known = isSame ? earlier?.acknowledged ?? 0n : undefined;
    const isBegun = isSame && earlier !== undefined;
    const account = new DeliveryAccount(context, node, { ledger, content, known, isBegun });
    if (!isSame && earlier.acknowledged > 0n) {
      account.#warn(
        `is delivered from its first row on: its rows are others than those of which ${earlier.acknowledged} were ` +
          "delivered before",
      );
    }
    return account;
  }

  /** Whether it is known what earlier attempts at delivering just these rows have delivered. */
  get isTrusted(): boolean {
    return this.#known !== undefined;
  }

  /**
   * After how many rows the write goes on, in the order of the drain; 0: at the first. From here on what was delivered
   * before is counted as this attempt's own, or forgotten.
   */
  async resume(group: WriteGroup): Promise<bigint> {
    const { signal } = this.#context;
    const from = this.#known === undefined ? 0n : max(this.#known, group.acknowledgedRows);
    const accepted = from > 0n && from <= this.#content.rows && await group.resumeFrom(from, signal);
    this.#acknowledged = accepted ? from : 0n;
    await this.#save();
    if (from > 0n && !accepted) {
      this.#warn(`is delivered from its first row on: its connector does not go on after ${from} delivered row(s)`);
    }
    this.#tellDoubt(group);
    return this.#acknowledged;
  }

  /**
   * Keeps that the destination has confirmed so many rows; resolves once that is on disk. Calls may overlap.
   *
   * @throws what staging fails with
   */
  acknowledge(rows: bigint): Promise<void> {
    this.#acknowledged = max(this.#acknowledged, rows);
    this.#saving = this.#saving.then(() => this.#save());
    this.#saving.catch(() => {});
    return this.#saving;
  }

  /** Keeps that all is delivered. Never throws: whoever asks once more whether it was gets the old count. */
  async complete(): Promise<void> {
    await this.acknowledge(this.#content.rows).catch(() => {});
  }

  /** Keeps the last word of a write that has ended, well or not. Never throws: why it ended says more. */
  async close(group: WriteGroup): Promise<void> {
    await this.acknowledge(group.acknowledgedRows).catch(() => {});
  }

  async #save(): Promise<void> {
    if (this.#saved === this.#acknowledged) return;
    const acknowledged = this.#acknowledged;
    await this.#ledger.save(this.#context.connection, { acknowledged, of: this.#content });
    this.#saved = acknowledged;
    if (acknowledged > 0n) faultPoint("rows_acknowledged");
  }

  /** What was on its way when another run stopped may be there, without that anybody has heard of it. */
  #tellDoubt(group: WriteGroup): void {
    const before = this.#context.run.triesBefore(this.#node).at(-1)?.run;
    const isDone = this.#acknowledged === this.#content.rows;
    if (before === undefined || !this.#isBegun || group.provesAttempt || isDone) return;
    this.#warn(
      `goes on after ${this.#acknowledged} delivered row(s); what was on its way when run ${before} stopped is sent ` +
        "again, and may be there twice",
    );
  }

  #warn(what: string): void {
    const { name, connection } = this.#node;
    const message = `'${name}' ${what}`;
    this.#context.run.bus.publish({ event: "connector_log", level: "warn", connection: connection.name, message });
  }
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
