import { isAlias, isMap, isPair, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from "yaml";
import type { SourcePosition } from "./model.ts";
import { type Problems, report } from "./problems.ts";
import { typePlainScalar } from "./scalars.ts";
import type { YamlEntry, YamlNode } from "./yaml_node.ts";

/** Values that one file may hold once all aliases are followed. */
const MAX_VALUES = 1_000_000;

const TAG_PREFIX = "tag:yaml.org,2002:";
const TEXT_TAGS: ReadonlySet<string> = new Set(["!", `${TAG_PREFIX}str`]);
const KNOWN_TAGS: ReadonlySet<string> = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => TAG_PREFIX + name).concat("!"),
);

/** A node and the number of values in it, aliases followed. */
type Built = { readonly node: YamlNode; readonly values: number };

type Key = { readonly text: string; readonly quoted: boolean; readonly position: SourcePosition };

type Builder = {
  readonly text: string;
  readonly positionAt: (offset: number) => SourcePosition;
  readonly problems: Problems;
  /** What each anchor stands for at this point of the file; `open` while its own value is being read. */
  readonly anchors: Map<string, Built | "open">;
  values: number;
};

/** Turns the parser's nodes into our own tree. Whatever can't be used is reported, and reads as empty and reported. */
export function buildTree(
  contents: Node | null,
  text: string,
  positionAt: (offset: number) => SourcePosition,
  problems: Problems,
): YamlNode {
  return build({ text, positionAt, problems, anchors: new Map(), values: 0 }, contents, positionAt(0)).node;
}

/** @param place the key or item that the value belongs to, which is to blame where it is empty */
function build(builder: Builder, source: unknown, place: SourcePosition): Built {
  if (isAlias(source)) return followAlias(builder, source.source, positionOf(builder, source));
  builder.values++;
  if (!isMap(source) && !isSeq(source) && !isScalar(source)) return emptyAt(place);

  const position = positionOf(builder, source);
  if (source.tag !== undefined && !KNOWN_TAGS.has(source.tag)) {
    problem(builder, `The tag '${source.tag}' is not supported`, position, "Remove the tag.");
  }
  if (source.anchor !== undefined) builder.anchors.set(source.anchor, "open");
  let built: Built;
  if (isMap(source)) built = buildMap(builder, source, position);
  else if (isSeq(source)) built = buildList(builder, source.items, position);
  else built = { node: scalarNode(builder, source, position, place), values: 1 };
  if (source.anchor !== undefined) builder.anchors.set(source.anchor, built);
  return built;
}

function buildList(builder: Builder, sources: readonly unknown[], position: SourcePosition): Built {
  const built = sources.map((item) => {
    if (!isPair(item)) return build(builder, item, position);
    problem(builder, "A list item can't be a pair here", position);
    return refusedAt(position);
  });
  return {
    node: { kind: "list", items: built.map(({ node }) => node), position },
    values: built.reduce((sum, { values }) => sum + values, 1),
  };
}

function scalarNode(builder: Builder, source: Scalar, position: SourcePosition, place: SourcePosition): YamlNode {
  const text = String(source.value ?? "");
  const typed = source.tag === undefined ? source.type === "PLAIN" : !TEXT_TAGS.has(source.tag);
  if (typed && text === "") return { kind: "empty", position: place };
  const lines = linesOf(builder, source, text);
  const places = lines === undefined ? { position } : { position, lines };
  if (!typed) return { kind: "scalar", text, value: text, quoted: true, exact: true, ...places };
  return { kind: "scalar", text, quoted: false, ...places, ...typePlainScalar(text) };
}

/** Where each line of a text stands: of a block after `|`, or of a text on one line that needed no escapes. */
function linesOf(builder: Builder, source: Scalar, text: string): readonly SourcePosition[] | undefined {
  // Only SQL has places of its own, and no SQL is a single word.
  if (!text.includes(" ")) return undefined;
  const [start = 0, end = 0] = source.range ?? [];
  const raw = builder.text.slice(start, end);
  if (raw === text) return [builder.positionAt(start)];
  if (source.type !== "BLOCK_LITERAL") return raw.slice(1, -1) === text ? [builder.positionAt(start + 1)] : undefined;
  const lines: SourcePosition[] = [];
  let offset = start + raw.indexOf("\n") + 1;
  for (const line of text.replace(/\n+$/, "").split("\n")) {
    const found = builder.text.indexOf("\n", offset);
    const lineEnd = found < 0 ? builder.text.length : found;
    const whole = builder.text.slice(offset, lineEnd).replace(/\r$/, "");
    if (!whole.endsWith(line)) return undefined;
    lines.push(builder.positionAt(offset + whole.length - line.length));
    offset = lineEnd + 1;
  }
  return lines;
}

function buildMap(builder: Builder, source: YAMLMap, position: SourcePosition): Built {
  const entries = new Map<string, { readonly entry: YamlEntry; readonly merged: boolean }>();
  let values = 1;
  for (const pair of source.items) {
    const key = readKey(builder, pair.key, position);
    if (key === undefined) continue;
    if (source.flow === true && pair.value === null && lacksSpaceAfterColon(builder, key)) continue;
    const built = build(builder, pair.value, key.position);
    values += built.values;
    if (key.text === "<<" && !key.quoted) {
      for (const entry of mergedEntries(builder, built.node, key.position)) {
        if (!entries.has(entry.key)) entries.set(entry.key, { entry, merged: true });
      }
    } else if (entries.get(key.text)?.merged === false) {
      problem(builder, `The key '${key.text}' stands here a second time`, key.position, "Keep one of the two.");
    } else {
      const entry = { key: key.text, position: key.position, value: built.node };
      entries.set(key.text, { entry, merged: false });
    }
  }
  return { node: { kind: "map", entries: [...entries.values()].map(({ entry }) => entry), position }, values };
}

function readKey(builder: Builder, source: unknown, position: SourcePosition): Key | undefined {
  if (isScalar(source)) {
    const quoted = source.type !== "PLAIN";
    return { text: String(source.value ?? ""), quoted, position: positionOf(builder, source) };
  }
  if (isAlias(source)) {
    const place = positionOf(builder, source);
    const { node } = followAlias(builder, source.source, place);
    if (node.kind === "scalar") return { text: node.text, quoted: true, position: place };
  }
  const place = isMap(source) || isSeq(source) ? positionOf(builder, source) : position;
  problem(
    builder,
    "A key must be a plain text",
    place,
    isMap(source) ? "Put a text that starts with { in quotes; an environment variable is ${NAME}." : undefined,
  );
  return undefined;
}

/** `{id:bigint}` is one key named `id:bigint`, which nobody means: reports it. */
function lacksSpaceAfterColon(builder: Builder, key: Key): boolean {
  const at = key.text.indexOf(":");
  if (key.quoted || at < 1) return false;
  const split = `${key.text.slice(0, at)}: ${key.text.slice(at + 1)}`;
  const hint = `YAML needs a space after the colon: '${split}'.`;
  problem(builder, `'${key.text}' is one key without a value`, key.position, hint);
  return true;
}

/** The entries that `<<: *a` or `<<: [*a, *b]` brings in, the first of equal keys winning. */
function mergedEntries(builder: Builder, node: YamlNode, position: SourcePosition): readonly YamlEntry[] {
  if (node.kind === "map") return node.entries;
  if (node.kind === "list" && node.items.every((item) => item.kind === "map")) {
    return node.items.flatMap((item) => item.kind === "map" ? item.entries : []);
  }
  if (node.kind === "empty" && node.reported === true) return [];
  problem(builder, "'<<' takes a map, or a list of maps", position, "Write '<<: *name'.");
  return [];
}

function followAlias(builder: Builder, name: string, position: SourcePosition): Built {
  const target = builder.anchors.get(name);
  if (target === undefined) {
    const hint = `Put a text that starts with * in quotes, or define '&${name}' above.`;
    problem(builder, `The alias '*${name}' stands for no anchor above it`, position, hint);
    return refusedAt(position);
  }
  if (target === "open") {
    problem(builder, `The alias '*${name}' stands inside its own anchor`, position);
    return refusedAt(position);
  }
  const before = builder.values;
  builder.values += target.values;
  if (builder.values <= MAX_VALUES) return target;
  if (before <= MAX_VALUES) problem(builder, `The aliases expand to more than ${MAX_VALUES} values`, position);
  return refusedAt(position);
}

function emptyAt(position: SourcePosition): Built {
  return { node: { kind: "empty", position }, values: 1 };
}

function refusedAt(position: SourcePosition): Built {
  return { node: { kind: "empty", reported: true, position }, values: 1 };
}

function positionOf(builder: Builder, node: Node): SourcePosition {
  return builder.positionAt(node.range?.[0] ?? 0);
}

function problem(builder: Builder, message: string, position: SourcePosition, hint?: string): void {
  report(builder.problems, "PZ0101", message, position, hint);
}
