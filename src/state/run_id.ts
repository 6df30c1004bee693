/** The shape of a run id: UTC time with milliseconds, `Z-`, four hex digits. Ordinal order is time order. */
export const RUN_ID_REGEXP = /^\d{8}T\d{9}Z-[0-9a-f]{4}$/;

/** A new run id. @param now milliseconds since 1970 @param random a number in [0, 1) */
export function newRunId(now: number, random: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[-:.Z]/g, "");
  return `${stamp}Z-${Math.floor(random * 65536).toString(16).padStart(4, "0")}`;
}

/** The moment that a run id was made at, as `yyyy-MM-ddTHH:mm:ss.fffZ`. */
export function startOfRunId(runId: string): string {
  return runId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, "$1-$2-$3T$4:$5:$6.$7Z");
}
