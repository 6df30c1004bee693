import type { Grant } from "../contract/mod.ts";
import { whyMissing } from "../host/landlock.ts";
import { LandlockCalls } from "../host/landlock_calls.ts";
import { landlockRules } from "../host/landlock_rules.ts";
import { ownArguments, programPlaces } from "./program_places.ts";

/** Rights that a confined process has no use for; a binary has them baked in, and gives them up when it starts. */
const DROPPED_FLAGS: readonly string[] = ["--allow-ffi", "--allow-run"];

/**
 * Confines this process to a grant by the operating system, by becoming the same program once more: the kernel's rules
 * hold for a thread and what comes from it, and this process has others already. Comes back only where the system has
 * no such layer, with the reason; then nothing has changed.
 *
 * @param handover what the environment holds besides, when the program starts again
 * @throws when the process is confined and can't start again
 */
export function confine(grant: Grant, handover: { readonly [name: string]: string }): string {
  if (Deno.build.os !== "linux") return "only Linux has a layer that pz knows";
  let calls: LandlockCalls | undefined;
  let args: readonly string[];
  try {
    calls = new LandlockCalls();
    const abi = calls.abi();
    args = ownArguments(calls);
    const rules = landlockRules(grant, abi, programPlaces(args, calls));
    const ruleset = calls.createRuleset(rules.handled);
    for (const { path, rights } of rules.paths) calls.allowPath(ruleset, path, rights);
    for (const port of rules.ports) calls.allowPort(ruleset, port);
    calls.restrictSelf(ruleset);
  } catch (error) {
    calls?.[Symbol.dispose]();
    return whyMissing(error);
  }
  const kept = args.filter((arg) => !DROPPED_FLAGS.includes(arg));
  return calls.execute(Deno.execPath(), kept, { ...Deno.env.toObject(), ...handover });
}
