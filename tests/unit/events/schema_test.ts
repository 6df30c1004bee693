import { type Schema, Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import assert from "node:assert/strict";
import { RELEASED_FILE, SCHEMA_FILE, schemaText, withChapter } from "../../../scripts/event_docs.ts";
import { eventNames } from "../../../src/events/mod.ts";
import { schemaProblem } from "../../harness/event_schema.ts";
import { problemOfEvent } from "../../harness/events.ts";
import { breachesOf } from "./schema_breaches.ts";
import { changedEvent, type Json, validEvent } from "./schema_support.ts";

const REGENERATE = "run `deno run --allow-read --allow-write scripts/event_docs.ts`";

function readFile(path: string): string {
  return Deno.readTextFileSync(new URL(`../../../${path}`, import.meta.url)).replaceAll("\r\n", "\n");
}

function schema(path: string): Json {
  return JSON.parse(readFile(path));
}

/** The schema, but with no place for what it does not name. */
function closed(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(closed);
  const members = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  return "type" in members && "properties" in members ? { ...members, additionalProperties: false } : members;
}

Deno.test("the README's chapter and the schema's file are those of the definition", () => {
  const readme = readFile("README.md");
  assert.equal(readme, withChapter(readme), REGENERATE);
  assert.equal(readFile(SCHEMA_FILE), schemaText(), REGENERATE);
});

Deno.test("the README's chapter is brought back from any text between its comments", () => {
  const readme = readFile("README.md");
  const worn = readme.replace("**`run_started`**", "**`run_begun`**");
  assert.notEqual(worn, readme);
  assert.equal(withChapter(worn), readme);
  assert.throws(() => withChapter("# pz\n"), /README\.md lacks/);
});

Deno.test("the schema has one branch for each event, and an event fits the branch with its name only", () => {
  const { oneOf = [] }: Schema = JSON.parse(schemaText());
  assert.deepEqual(oneOf.map(({ title }) => title), eventNames());
  fc.assert(fc.property(fc.constantFrom(...eventNames()).chain(validEvent), (event) => {
    const fitting = oneOf.filter((branch) => new Validator(branch, "2020-12").validate(event).valid);
    assert.deepEqual(fitting.map(({ title }) => title), [event["event"]]);
  }));
});

Deno.test("the schema and the validator of the black-box tests agree on right and wrong events", () => {
  const strict = new Validator(JSON.parse(JSON.stringify(closed(schema(SCHEMA_FILE)))), "2020-12");
  const verdicts = { right: 0, wrong: 0 };
  const right = fc.constantFrom(...eventNames()).chain(validEvent);
  fc.assert(
    fc.property(fc.oneof(right, right.chain(changedEvent)), (event) => {
      const problem = problemOfEvent(event);
      assert.equal(strict.validate(event).valid, problem === undefined, problem);
      if (problem === undefined) assert.equal(schemaProblem(event), undefined);
      verdicts[problem === undefined ? "right" : "wrong"]++;
    }),
    { numRuns: 2000 },
  );
  assert.ok(verdicts.right > 200 && verdicts.wrong > 200, JSON.stringify(verdicts));
});

Deno.test("the published schema lets a field pass that it does not know, and no field of another type", () => {
  fc.assert(fc.property(fc.constantFrom(...eventNames()).chain(validEvent), (event) => {
    assert.equal(schemaProblem({ ...event, addedLater: [1] }), undefined);
    assert.match(schemaProblem({ ...event, runId: 7 }) ?? "", /the schema refuses it/);
  }));
});

Deno.test("today's schema keeps what the last release promised", () => {
  assert.deepEqual(breachesOf(schema(RELEASED_FILE), schema(SCHEMA_FILE)), []);
});

const NODE_ID = `"nodeId": {`;
const BREACHES: readonly (readonly [change: string, from: string, to: string, breach: RegExp])[] = [
  ["an event renamed", `"const": "node_started"`, `"const": "node_begun"`, /^node_started: is gone$/],
  ["a field renamed", `"nodeCount": {`, `"nodes": {`, /^run_started\.nodeCount: is gone$/],
  [
    "a field no longer always there",
    `"projectName",\n        "nodeCount"`,
    `"projectName"`,
    /^run_started\.nodeCount: may be absent now$/,
  ],
  ["a nested member renamed", `"hintsHash"`, `"hint"`, /^source_drift_detected\.hintsHash: /],
  [
    "a member of a listed object renamed",
    `"column": {`,
    `"col": {`,
    /^source_drift_detected\.changes\[\]\.column: is gone$/,
  ],
  ["a member of an object renamed", `"retried": {`, `"again": {`, /^node_completed\.ops\.retried: is gone$/],
  ["a type changed", `"type": "boolean"`, `"type": "string"`, /^node_completed\.caughtUp: 'type' was "boolean"/],
  ["a field made nullable", `"type": "boolean"`, `"type": ["boolean", "null"]`, /^node_completed\.caughtUp: 'type'/],
  ["a word gone", `"half_open"`, `"open"`, /^breaker_state_changed\.oldState: 'enum'/],
  ["a word more", `"half_open"`, `"half_open", "ajar"`, /^breaker_state_changed\.oldState: 'enum'/],
  ["a pattern changed", `^conn:.`, `^sink:.`, /^breaker_state_changed\.instance: 'pattern'/],
  ["a condition changed", `"const": "failed"`, `"const": "skipped"`, /^node_completed: 'allOf'/],
  ["fields in another order", NODE_ID, `"name": {}, ${NODE_ID}`, /^node_started: the fields stand in another order$/],
];

for (const [change, from, to, breach] of BREACHES) {
  Deno.test(`the promise of the last release is broken by ${change}`, () => {
    const text = schemaText();
    assert.ok(text.includes(from), from);
    const breaches = breachesOf(JSON.parse(text), JSON.parse(text.replace(from, to)));
    assert.ok(breaches.some((line) => breach.test(line)), breaches.join("\n"));
  });
}

Deno.test("the promise of the last release is broken by an event that is gone", () => {
  const released = JSON.parse(schemaText());
  const today = { ...released, oneOf: released.oneOf.slice(1) };
  assert.deepEqual(breachesOf(released, today), ["run_started: is gone"]);
});

Deno.test("an added event, field or member, a field that is now always there, and new words of description keep the promise", () => {
  const today = schemaText();
  const older = JSON.parse(today);
  older.oneOf = older.oneOf.slice(0, -1);
  for (const branch of older.oneOf) {
    branch.description = "as it was";
    branch.required = branch.required.filter((name: string) => name !== "batches");
    delete branch.properties.hintsHash;
    branch.required = branch.required.filter((name: string) => name !== "hintsHash");
    delete branch.properties.ops?.properties.retried;
    const ops = branch.properties.ops;
    if (ops !== undefined) ops.required = ops.required.filter((name: string) => name !== "retried");
  }
  assert.notEqual(JSON.stringify(older), JSON.stringify(JSON.parse(today)));
  assert.deepEqual(breachesOf(older, JSON.parse(today)), []);
});
