import { sha256Hex } from "../../../util/mod.ts";
import type { ConfigMap, DatasetSpec } from "../../contract/mod.ts";
import type { PageState } from "./pagination.ts";

/** From where a read goes on: so many pages are done; without a next one, all of them. */
export type Checkpoint = { readonly pages: number; readonly next: PageState | undefined };

/** What a dataset asks for, so that a checkpoint of another question is not taken for its own. */
export function questionOf(baseUrl: string, { options, columns = [] }: DatasetSpec): string {
  return sha256Hex(JSON.stringify([baseUrl, ordered(options), columns.map(({ name }) => name)]));
}

/** A checkpoint as a token. */
export function tokenOf(question: string, { pages, next }: Checkpoint): string {
  return JSON.stringify({ question, pages, next: next ?? null });
}

/** What a token says; undefined for one of another question, or that is none. */
export function checkpointOf(question: string, token: string): Checkpoint | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(token);
  } catch {
    return undefined;
  }
  if (member(parsed, "question") !== question) return undefined;
  const pages = member(parsed, "pages");
  const next = member(parsed, "next");
  if (typeof pages !== "number" || !Number.isSafeInteger(pages) || pages < 1) return undefined;
  if (next === null) return { pages, next: undefined };
  const state = stateOf(next);
  return state === undefined ? undefined : { pages, next: state };
}

function stateOf(value: unknown): PageState | undefined {
  const number = member(value, "number");
  const cursor = member(value, "cursor");
  const url = member(value, "url");
  switch (member(value, "at")) {
    case "number":
      return typeof number === "number" && Number.isSafeInteger(number) && number >= 0
        ? { at: "number", number }
        : undefined;
    case "cursor":
      return typeof cursor === "string" ? { at: "cursor", cursor } : undefined;
    case "url":
      return typeof url === "string" && URL.canParse(url) ? { at: "url", url } : undefined;
  }
  return undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** The same options in the same order, whole numbers of any kind alike. */
function ordered(value: ConfigMap[string]): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return String(value);
  if (isList(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.keys(value).sort().map((key) => [key, ordered(value[key] ?? null)]);
}

function isList(value: ConfigMap[string]): value is readonly ConfigMap[string][] {
  return Array.isArray(value);
}
