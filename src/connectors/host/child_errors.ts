import { ConnectorError, type ConnectorProgram, UNEXPECTED } from "../contract/mod.ts";
import type { FrameError } from "../protocol/frame.ts";
import { errorFromWire, type Message } from "../protocol/messages.ts";
import type { Redactor } from "./redact.ts";
import { printable } from "./tail.ts";

const LOOP_HINT = "its open() runs without a pause: it must return at once, and connect when it is first used";
const SLOW_HINT = "does its code run without a pause, or is the machine overloaded?";
const SPIN_HINT = "does it loop for ever? A long computation has to pause now and then, by awaiting a timer";
const OUTPUT_HINT = "use host.log or console.log: stdout belongs to pz";

/** Whose errors they are. */
type Whose = {
  readonly connector: string;
  readonly connection: string;
  readonly program?: ConnectorProgram | undefined;
  readonly redactor: Redactor;
};

/** What is told of a connector's process and by it, with the names of connector and connection, and fit to be shown. */
export class ChildErrors {
  readonly #whose: Whose;
  readonly #errorOutput: () => string;

  /** @param errorOutput the end of what the process has written to its error output */
  constructor(whose: Whose, errorOutput: () => string) {
    this.#whose = whose;
    this.#errorOutput = errorOutput;
  }

  /** @param what follows "The process of …" */
  make(
    what: string,
    code: string,
    transient: boolean,
    more: { readonly hint?: string; readonly cause?: unknown } = {},
  ): ConnectorError {
    const { connector, connection, redactor } = this.#whose;
    const tail = redactor.strict(this.#errorOutput());
    return new ConnectorError(
      `The process of connector "${connector}" for connection "${connection}" ${what}${
        tail === "" ? "" : `; the end of its error output: ${tail}`
      }`,
      { transient, code, ...more },
    );
  }

  /** No answer to a request that takes no time. A start may be slow on a busy machine, and to open is nothing. */
  noAnswer(request: string, ms: number): ConnectorError {
    const isLoop = this.#whose.program?.kind === "module" && request === "Configure";
    const what = `has not answered the request ${request} for ${ms / 1000} s`;
    return this.make(what, "PZ0356", !isLoop, { hint: isLoop ? LOOP_HINT : SLOW_HINT });
  }

  /** The process answers, and its code does not come to. */
  busy(ms: number): ConnectorError {
    const what = `has been busy without a pause for ${ms / 1000} s, and was ended`;
    return this.make(what, "PZ0358", false, { hint: SPIN_HINT });
  }

  /** Bytes that are no frame are mostly text that was meant for a person. */
  breach({ message }: FrameError): ConnectorError {
    const isText = this.#whose.program !== undefined && message.startsWith("bytes that are no frame");
    const what = `broke the protocol with ${message}${isText ? "; did its code write to stdout?" : ""}`;
    return this.make(what, "PZ0357", false, isText ? { hint: OUTPUT_HINT } : {});
  }

  /** An error that the connector told. */
  told(message: Message): ConnectorError {
    const { redactor } = this.#whose;
    const error = this.#named(errorFromWire(message["error"]));
    return error.with({
      message: redactor.lenient(printable(error.message)),
      hint: error.hint === undefined ? undefined : redactor.lenient(printable(error.hint)),
    });
  }

  /** The failure of its start; that of its code is told in words that follow the connector's name. */
  refusal(error: unknown): unknown {
    const { connector, connection } = this.#whose;
    if (!(error instanceof ConnectorError) || error.code !== "PZ0356") return error;
    return error.with({
      message: `Connector '${connector}' of connection '${connection}' can't be run: ${error.message}`,
    });
  }

  #named(error: ConnectorError): ConnectorError {
    if (!error.message.startsWith(UNEXPECTED)) return error;
    const { connector, connection, program } = this.#whose;
    const what = error.message.slice(UNEXPECTED.length);
    return error.with({
      message: `Connector '${connector}' of connection '${connection}' failed unexpectedly: ${what}`,
      hint: program === undefined
        ? `a bug of pz's own connector '${connector}': please report it`
        : `a bug of connector '${connector}'; throw a ConnectorError for what a user can mend`,
    });
  }
}
