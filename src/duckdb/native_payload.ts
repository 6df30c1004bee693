/** One file of the native library as the binary carries it. */
export type NativeFile = {
  readonly name: string;
  /** Bytes of the unpacked file. */
  readonly size: number;
  /** SHA-256 of the unpacked file, in lowercase hex. */
  readonly sha256: string;
  /** The packed bytes. */
  readonly read: () => Uint8Array;
};

/** The native library inside a binary: the addon first, then what it is linked with. */
export type NativePayload = {
  /** Names the content: another library has another id. */
  readonly id: string;
  readonly files: readonly NativeFile[];
};

/** What this binary carries; undefined when pz runs from its source. The build puts the payload here. */
export const NATIVE_PAYLOAD: NativePayload | undefined = undefined;
