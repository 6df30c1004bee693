import type { ErrorCode } from "./codes.ts";

const DENIED: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

/**
 * Sorts an error that pz did not raise by its class or system code, never by its text: access denied PZ0531, disk full
 * PZ0532, locked file PZ0533, anything else PZ0500.
 */
export function classifyForeign(error: unknown): ErrorCode {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof Deno.errors.PermissionDenied || DENIED.has(String(code))) return "PZ0531";
  if (code === "ENOSPC" || code === "EDQUOT") return "PZ0532";
  if (error instanceof Deno.errors.Busy || code === "EBUSY") return "PZ0533";
  return "PZ0500";
}
