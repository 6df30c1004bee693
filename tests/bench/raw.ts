import { Duck } from "../harness/duck.ts";

/** Runs one SQL text in a DuckDB of its own: the limit that pz is measured against, in the same host. */
if (import.meta.main) {
  using duck = await Duck.open();
  await duck.run(Deno.args[0] ?? "");
}
