/** How long the host waits, in milliseconds. */
export type Patience = {
  /** From the start of the process to its answer to the handshake, and again to that to its settings. */
  readonly handshakeMs: number;
  /** From a request to the first sign of an answer; reads, writes and commits take as long as they take. */
  readonly answerMs: number;
  /** From a cancellation to the end of the cancelled request; then the process is killed. */
  readonly cancelMs: number;
  /** The same for a write that is taken back, which may be more work. */
  readonly abortMs: number;
  /** For the connector's own farewell, and again for the end of the process. */
  readonly shutdownMs: number;
  /** Between two questions whether the process still runs, while it has requests. */
  readonly pingMs: number;
  /** From such a question on, if no answer comes; then the process is killed. */
  readonly pongMs: number;
  /**
   * The same for the code of a package, whose event loop does not turn although the process answers; longer than what a
   * connector may have to do in one go.
   */
  readonly spinMs: number;
};

export const DEFAULT_PATIENCE: Patience = {
  handshakeMs: 15_000,
  answerMs: 120_000,
  cancelMs: 5_000,
  abortMs: 15_000,
  shutdownMs: 2_000,
  pingMs: 15_000,
  pongMs: 30_000,
  spinMs: 120_000,
};
