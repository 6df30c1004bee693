/** Whether the sandbox's refusal is behind an error, which the host tells better than a driver. */
export function isRefusedPermission(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof Deno.errors.NotCapable) return true;
  }
  return false;
}
