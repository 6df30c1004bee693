import type { RunEvent } from "../../../src/events/mod.ts";
import { listFiles } from "../../harness/temp_dir.ts";
import type { Bench, FixtureRun } from "./fixture.ts";

/** Each event with the node that it tells of. */
export function names(events: readonly RunEvent[]): readonly string[] {
  return events.map((event) => "name" in event ? `${event.event} ${event.name}` : event.event);
}

/** Name, status and rows of each node of the receipt. */
export function facts({ receipt }: FixtureRun) {
  return receipt.nodes.map(({ name, status, rows }) => [name, status, rows]);
}

/** The failures that a run ended with, by node. */
export function failures({ receipt }: FixtureRun) {
  return Object.fromEntries(receipt.nodes.flatMap(({ name, error }) => error === null ? [] : [[name, error]]));
}

/** Files beside the project's own state. */
export async function outFiles({ root }: Bench): Promise<string[]> {
  return (await listFiles(root)).filter((path) => !path.startsWith(".pz/"));
}
