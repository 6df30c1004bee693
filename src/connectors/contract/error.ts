/** What the message of a failure begins with that a connector did not foresee; the host puts the names in its place. */
export const UNEXPECTED = "The connector failed unexpectedly: ";

/** The permission that a sandboxed connector lacked, such as `read` of `/etc/passwd`. */
export type DeniedPermission = { readonly permission: string; readonly target: string };

/** The one error through which a connector's failure reaches the engine; its message is safe to show. */
export class ConnectorError extends Error {
  override readonly name = "ConnectorError";
  /** Whether the same operation may succeed if it is tried again. */
  readonly transient: boolean;
  readonly retryAfterMs: number | undefined;
  readonly code: string | undefined;
  readonly hint: string | undefined;
  readonly denied: DeniedPermission | undefined;
  /**
   * Of a failed commit: whether the data may have become visible all the same. A connector that throws from `commit`
   * and knows that nothing did says `false`; otherwise it becomes `true`. Of anything else: undefined.
   */
  readonly outcomeUnknown: boolean | undefined;

  constructor(
    message: string,
    init: {
      readonly transient: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly code?: string | undefined;
      readonly hint?: string | undefined;
      readonly denied?: DeniedPermission | undefined;
      readonly outcomeUnknown?: boolean | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.transient = init.transient;
    this.retryAfterMs = init.retryAfterMs;
    this.code = init.code;
    this.hint = init.hint;
    this.denied = init.denied;
    this.outcomeUnknown = init.outcomeUnknown;
  }

  /** The same error, with another message, hint or outcome. */
  with(changes: {
    readonly message?: string;
    readonly hint?: string | undefined;
    readonly outcomeUnknown?: boolean;
  }): ConnectorError {
    const { message, ...init } = { ...this.#init(), message: this.message, ...changes };
    return new ConnectorError(message, init);
  }

  #init() {
    const { transient, retryAfterMs, code, hint, denied, outcomeUnknown, cause } = this;
    return { transient, retryAfterMs, code, hint, denied, outcomeUnknown, cause };
  }
}
