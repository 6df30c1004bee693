import type { Frame } from "../protocol/frame.ts";

/** What the child's main thread tells its worker: which connector to be, then the host's frames. */
export type ToWorker = { readonly connector: string } | { readonly frame: Frame };

/** What the worker answers: that its connector is loaded, bytes for the host, or the reason why it can't go on. */
export type FromWorker = { readonly ready: true } | { readonly bytes: Uint8Array<ArrayBuffer> } | {
  readonly fatal: string;
};
