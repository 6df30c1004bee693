import { join } from "node:path";
import process from "node:process";
import { PzError } from "../errors/mod.ts";
import type { NativePayload } from "./native_payload.ts";
import { cachePlaces, type NativeFacts } from "./native_places.ts";
import { isComplete, unpackInto } from "./native_unpack.ts";

/** Loads an addon and returns what it exports. */
export type OpenAddon = (path: string) => unknown;

/** Another process may be replacing a damaged folder while this one looks at it. */
const ATTEMPTS_IN_PLACE = 3;

/**
 * Unpacks the payload in the first place that works and loads its addon from there, beside the library that it is
 * linked with.
 *
 * @throws {PzError} PZ0721 when the system lacks a library, PZ0720 when no place works
 */
export function openNative(
  payload: NativePayload,
  facts: NativeFacts = machineFacts(),
  open: OpenAddon = openAddon,
): unknown {
  const addon = payload.files[0]?.name ?? "";
  const failures: string[] = [];
  for (const place of cachePlaces(facts)) {
    try {
      return openIn(() => unpackInto(place, payload, facts), addon, payload, facts, open);
    } catch (error) {
      if (error instanceof PzError) throw error;
      failures.push(`${place.path}: ${textOf(error)}`);
    }
  }
  const tried = failures.length === 0 ? "there is no folder to unpack it in" : failures.join("; ");
  throw new PzError("PZ0720", `DuckDB's library can't be unpacked and loaded: ${tried}`, {
    hint: "set PZ_CACHE_DIR to an absolute folder of your own on a file system that is writable and not mounted noexec",
  });
}

function openIn(
  unpack: () => string,
  addon: string,
  payload: NativePayload,
  facts: NativeFacts,
  open: OpenAddon,
): unknown {
  for (let attempt = 1;; attempt++) {
    const folder = unpack();
    try {
      return open(join(folder, addon));
    } catch (error) {
      const missing = missingSystemLibrary(textOf(error), payload);
      if (missing !== undefined) throw missing;
      if (attempt === ATTEMPTS_IN_PLACE || isComplete(folder, payload, facts)) throw error;
    }
  }
}

/** The error for a loader's message that names a library which is not ours to bring. */
function missingSystemLibrary(text: string, { files }: NativePayload): PzError | undefined {
  const library = /(lib[^\s:/']+\.so[^\s:/']*): cannot open shared object file/.exec(text)?.[1];
  if (library !== undefined && !files.some(({ name }) => name === library)) {
    return new PzError("PZ0721", `The system library '${library}' is missing, which DuckDB needs`, {
      hint: library.startsWith("libstdc++") || library.startsWith("libgcc")
        ? "install libstdc++6 and libgcc-s1 (Debian, Ubuntu) or libstdc++ and libgcc (Fedora, RHEL)"
        : `install the package that brings '${library}'`,
    });
  }
  const version = /version [`']([A-Z]+(?:XX|ABI)?_[0-9.]+)' not found/.exec(text)?.[1];
  if (version === undefined) return undefined;
  const name = version.startsWith("GLIBC_") ? "glibc" : "libstdc++";
  return new PzError("PZ0721", `The system's ${name} is too old: DuckDB needs ${version}`, {
    hint: "use a system, or a container image, with glibc 2.28 and libstdc++ of GCC 8 or newer",
  });
}

function openAddon(path: string): unknown {
  const module: { readonly exports: unknown } = { exports: {} };
  process.dlopen(module, path);
  return module.exports;
}

function machineFacts(): NativeFacts {
  return { os: Deno.build.os, uid: Deno.uid(), env: (name) => Deno.env.get(name) || undefined };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
