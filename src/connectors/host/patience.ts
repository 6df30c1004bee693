/** How long the host waits, in milliseconds. */
export type Patience = {
  /** From the start of the process to its answer to the handshake. */
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
};

export const DEFAULT_PATIENCE: Patience = {
  handshakeMs: 15_000,
  answerMs: 120_000,
  cancelMs: 5_000,
  abortMs: 15_000,
  shutdownMs: 2_000,
  pingMs: 15_000,
  pongMs: 30_000,
};
