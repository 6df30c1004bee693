import { FILE_TARGETS } from "./file_targets.ts";
import { httpTargets } from "./http_targets.ts";
import { mysqlTargets, postgresTargets, type Served, storeTargets } from "./server_targets.ts";
import type { Target } from "./target.ts";

/** The targets to run, and what had to be left out. */
export type OpenTargets = AsyncDisposable & {
  readonly targets: readonly Target[];
  readonly notes: readonly string[];
};

const SERVERS: { readonly [kind: string]: () => Promise<Served | string> | Served } = {
  postgres: postgresTargets,
  mysql: mysqlTargets,
  s3: storeTargets,
  http: httpTargets,
};

/** Starts the servers that targets need. Without names: all targets, else those whose names begin with one of them. */
export async function openTargets(names: readonly string[]): Promise<OpenTargets> {
  await using stack = new AsyncDisposableStack();
  const isWanted = (name: string) => names.length === 0 || names.some((part) => name.startsWith(part));
  const targets: Target[] = [...FILE_TARGETS];
  const notes: string[] = [];
  for (const [kind, start] of Object.entries(SERVERS)) {
    if (names.length > 0 && !names.some((name) => name.startsWith(kind))) continue;
    const served = await start();
    if (typeof served === "string") notes.push(served);
    else {
      stack.defer(served.stop);
      targets.push(...served.targets);
    }
  }
  const moved = stack.move();
  return {
    targets: targets.filter(({ name }) => isWanted(name)),
    notes,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}
