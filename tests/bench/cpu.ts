/** What a finished process used: user and system CPU of it and of all that it waited for, and the time on the clock. */
export type Sample = { readonly cpu: number; readonly wall: number };

export type Measured = {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
};

/**
 * Runs a command to its end and says what it cost, in seconds; its stdout is dropped. A POSIX shell does the counting,
 * because Deno has no call for the CPU time of a child.
 *
 * @throws {Error} with what the command wrote to stderr when its exit code is not 0
 */
export async function measure({ program, args, cwd, env }: Measured): Promise<Sample> {
  const script = `"$@" >/dev/null; code=$?; times; exit $code`;
  const started = performance.now();
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", script, "sh", program, ...args],
    cwd,
    env: { ...env },
    clearEnv: true,
  }).output();
  const wall = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`'${program}' ended with ${code}: ${new TextDecoder().decode(stderr)}`);
  return { cpu: childSeconds(new TextDecoder().decode(stdout)), wall };
}

/** User plus system seconds of the children, from what the shell's `times` prints: its second line. */
export function childSeconds(times: string): number {
  const [, children = ""] = times.split("\n");
  const parts = [...children.matchAll(/(\d+)m(\d+(?:\.\d+)?)s/g)];
  if (parts.length !== 2) throw new Error(`'times' prints another shape: ${times}`);
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}
