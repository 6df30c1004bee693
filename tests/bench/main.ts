/**
 * Measures pz on one of the workloads; W1 unless another is named.
 *
 *     deno task bench [w1|w2|w3|w4|w5|w6|w9|universal|stall|startup|child] [--rounds 5]
 *     PZ_TEST_BINARY=dist/pz deno task bench w1
 */

type Bench = { bench: (args: readonly string[]) => Promise<void> };

/** By the name that stands first on the command line. */
const WORKLOADS: { readonly [name: string]: () => Promise<Bench> } = {
  child: () => import("./child_start.ts"),
  stall: () => import("./stall.ts"),
  startup: () => import("./startup.ts"),
  universal: () => import("./universal.ts"),
  w1: () => import("./w1.ts"),
  w2: () => import("./w2.ts"),
  w3: () => import("./w3.ts"),
  w4: () => import("./w4.ts"),
  w5: () => import("./w5.ts"),
  w6: () => import("./w6.ts"),
  w9: () => import("./w9.ts"),
};

if (import.meta.main) {
  const [name = "", ...rest] = Deno.args;
  const workload = Object.hasOwn(WORKLOADS, name) ? WORKLOADS[name] : undefined;
  if (workload === undefined) await (await import("./w1.ts")).bench(Deno.args);
  else await (await workload()).bench(rest);
}
