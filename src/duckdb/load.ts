import { openNative } from "./native.ts";
import { NATIVE_PAYLOAD } from "./native_payload.ts";

/** DuckDB's JavaScript API and the plain bindings below it. */
export type DuckDbLibrary = typeof import("./library.ts");

/** Where the bindings of a binary look for the addon, which was loaded from where it was unpacked. */
const ADDON = Symbol.for("pz.duckdb.addon");

let loading: Promise<DuckDbLibrary> | undefined;

/**
 * Loads the native library at the first call; later calls share it. A failure is forgotten. Nothing else of pz loads
 * native code, so the permission for it is given up right after.
 *
 * @throws {PzError} PZ0720 or PZ0721 when a binary can't unpack or load it
 */
export function loadDuckDb(): Promise<DuckDbLibrary> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(): Promise<DuckDbLibrary> {
  if (NATIVE_PAYLOAD !== undefined) Reflect.set(globalThis, ADDON, openNative(NATIVE_PAYLOAD));
  const library = await import("./library.ts");
  Deno.permissions.revokeSync({ name: "ffi" });
  return library;
}
