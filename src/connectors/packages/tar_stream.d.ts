/** One member of an archive. */
export type TarHeader = {
  readonly name: string;
  readonly type?: string | null;
  readonly size?: number;
  readonly linkname?: string;
};

export type TarEntry = AsyncIterable<Uint8Array> & { readonly header: TarHeader };

export type TarExtract = AsyncIterable<TarEntry> & {
  end(bytes: Uint8Array): void;
  destroy(error?: Error): void;
};

export type TarPack = AsyncIterable<Uint8Array> & {
  entry(header: TarHeader, content?: string): void;
  finalize(): void;
};

declare const tar: {
  extract(): TarExtract;
  pack(): TarPack;
};
export default tar;
