/** A platform that pz is built for. */
export type Target = {
  /** What `--target` takes. */
  readonly name: string;
  /** The runtime's own name of the platform. */
  readonly triple: string;
  /** npm's names of the operating system and the processor, which DuckDB's package carries. */
  readonly os: string;
  readonly cpu: string;
  /** The addon first, then the library that it is linked with. */
  readonly files: readonly [string, string];
};

/** Linux means glibc: the runtime has no build for musl. */
export const TARGETS: readonly Target[] = [
  target("linux-x64", "x86_64-unknown-linux-gnu", "libduckdb.so"),
  target("linux-arm64", "aarch64-unknown-linux-gnu", "libduckdb.so"),
  target("darwin-arm64", "aarch64-apple-darwin", "libduckdb.dylib"),
  target("darwin-x64", "x86_64-apple-darwin", "libduckdb.dylib"),
  target("win32-x64", "x86_64-pc-windows-msvc", "duckdb.dll"),
];

function target(name: string, triple: string, library: string): Target {
  const [os = "", cpu = ""] = name.split("-");
  return { name, triple, os, cpu, files: ["duckdb.node", library] };
}

/** The npm package that holds a target's native files. */
export function nativePackage({ name }: Target): string {
  return `@duckdb/node-bindings-${name}`;
}
