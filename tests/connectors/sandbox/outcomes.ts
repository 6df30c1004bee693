import { type Attempt, KINDS, type Targets } from "./attempt.ts";
import { ATTEMPTS } from "./hostile.ts";

const MOST_MS = 10_000;

/** Tries all of these kinds and prints, as the last line, one JSON object: null for each attempt that works, or why it does not. */
export async function printOutcomes(targets: Targets, kinds: readonly Attempt["kind"][] = KINDS): Promise<void> {
  const outcomes: { [name: string]: string | null } = {};
  // What nobody waited for must not end the others.
  globalThis.addEventListener("unhandledrejection", (event) => event.preventDefault());
  globalThis.addEventListener("error", (event) => event.preventDefault());
  const wanted = ATTEMPTS.filter(({ kind }) => kinds.includes(kind));
  for (const { kind, name, run } of wanted) outcomes[`${kind}: ${name}`] = await outcomeOf(() => run(targets));
  Deno.stdout.writeSync(new TextEncoder().encode(`\n${JSON.stringify(outcomes)}\n`));
}

async function outcomeOf(run: () => unknown): Promise<string | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it does not end")), MOST_MS);
  });
  try {
    await Promise.race([(async () => await run())(), late]);
    return null;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } finally {
    clearTimeout(timer);
  }
}
