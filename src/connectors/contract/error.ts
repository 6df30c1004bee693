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

  constructor(
    message: string,
    init: {
      readonly transient: boolean;
      readonly retryAfterMs?: number | undefined;
      readonly code?: string | undefined;
      readonly hint?: string | undefined;
      readonly denied?: DeniedPermission | undefined;
      readonly cause?: unknown;
    },
  ) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.transient = init.transient;
    this.retryAfterMs = init.retryAfterMs;
    this.code = init.code;
    this.hint = init.hint;
    this.denied = init.denied;
  }
}
