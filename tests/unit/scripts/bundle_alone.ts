/** Bundles as the options in the first argument say and prints the names of the modules, both as JSON. */
import { bundle } from "../../../scripts/build_bundle.ts";

const { modules } = await bundle(JSON.parse(Deno.args[0] ?? ""));
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(modules)));
