import type { Frame } from "../protocol/frame.ts";

/**
 * What the child's main thread tells its worker: which connector inside pz to be, or to be one whose code comes next,
 * and that code; then the host's frames, and every so often whether its event loop still turns; in the end that the
 * host is gone.
 */
export type ToWorker =
  | { readonly connector: string }
  | { readonly waitForCode: true }
  | { readonly code: Uint8Array<ArrayBuffer> }
  | { readonly frame: Frame }
  | { readonly ping: true }
  | { readonly hostIsGone: true };

/**
 * What the worker answers: that nothing of it needs the main thread's permissions any more, bytes for the host, the reason
 * why it can't go on, that its event loop turns, or that it has left nothing behind of what the host that is gone had begun.
 */
export type FromWorker =
  | { readonly ready: true }
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly fatal: string }
  | { readonly pong: true }
  | { readonly farewell: true };
