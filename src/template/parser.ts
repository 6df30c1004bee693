import {
  type Context,
  type Emitter,
  type Liquid,
  Parser,
  ParseStream,
  type TagToken,
  type Template,
  type TopLevelToken,
  toValueSync,
  TypeGuards,
  Value,
} from "liquidjs";
import { SqlEmitter } from "./emitter.ts";
import { outputFunction, SIGNATURES, unknownFunction, valueFunction } from "./functions.ts";
import { problemsOf } from "./problems.ts";
import { type Rendering, TemplateProblem } from "./rendering.ts";
import { foreignForm } from "./scriban.ts";
import { suggestion } from "./suggestion.ts";
import { type ParsedCall, TemplateTokenizer, type ValueCalls } from "./tokenizer.ts";

/** Tags with a body, up to their `end…`. */
const BLOCKS: readonly string[] = ["if", "unless", "case", "for", "comment", "raw"];
const TAGS: ReadonlySet<string> = new Set([...BLOCKS, "assign", "break", "continue", "#"]);
const BRANCHES: readonly string[] = ["else", "elsif", "when"];

type Write = (context: Context, emitter: SqlEmitter) => void;

/** A piece of a template whose problems are reported and don't stop the pieces after it. */
class Piece implements Template {
  constructor(
    readonly token: TopLevelToken,
    readonly rendering: Rendering,
    readonly offset: number,
    readonly write: Write,
  ) {}

  render(context: Context, emitter: Emitter): void {
    if (!(emitter instanceof SqlEmitter)) throw new TypeError("Cannot render a pipeline into a plain emitter");
    if (this.rendering.full) return;
    try {
      this.write(context, emitter);
    } catch (error) {
      for (const problem of problemsOf(error, this.offset, this.rendering)) this.rendering.report(problem);
    }
  }
}

/** Turns a template's tokens into pieces. Problems are reported; each leaves an empty piece in its place. */
export class PipelineParser extends Parser implements ValueCalls {
  readonly #openForms: string[] = [];
  /** Reads the text between tags and what stands in `{{ }}`; each tag has a tokenizer of its own. */
  readonly #tokenizer: TemplateTokenizer;

  constructor(readonly engine: Liquid, readonly rendering: Rendering) {
    super(engine);
    this.#tokenizer = new TemplateTokenizer(rendering.masked, [0, rendering.masked.length], this);
  }

  /** Reads the whole template; undefined if its pieces can't be told apart. */
  read(): Template[] | undefined {
    try {
      const tokens = this.#tokenizer.readTopLevelTokens(this.engine.options);
      for (const token of tokens) if (TypeGuards.isTagToken(token)) this.#retokenize(token);
      return this.parseTokens(tokens);
    } catch (error) {
      this.#report(error, 0);
      return undefined;
    }
  }

  computationOf(call: ParsedCall): (context: Context) => unknown {
    return valueFunction(call, this.rendering);
  }

  requireFunction(name: string, offset: number): void {
    if (!Object.hasOwn(SIGNATURES, name)) throw unknownFunction({ name, offset });
  }

  override parseTokens(tokens: TopLevelToken[]): Template[] {
    const pieces: Template[] = [];
    for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
      pieces.push(this.#parse(token, tokens));
    }
    return pieces;
  }

  override parseStream(tokens: TopLevelToken[]): ParseStream<TopLevelToken> {
    return new ParseStream(tokens, (token, rest) => this.#parse(token, rest));
  }

  #parse(token: TopLevelToken, rest: TopLevelToken[]): Template {
    if (this.rendering.full) return this.#piece(token, () => {});
    try {
      if (TypeGuards.isTagToken(token)) return this.#parseTag(token, rest);
      if (TypeGuards.isOutputToken(token)) {
        return new Piece(token, this.rendering, token.contentRange[0], this.#readOutput(token.contentRange));
      }
      return this.#copy(token);
    } catch (error) {
      this.#report(error, token.begin);
      return this.#piece(token, () => {});
    }
  }

  /** A piece of SQL that is copied, with the blanks next to `{{-` and the like cut off. */
  #copy(token: TopLevelToken): Template {
    const { begin, end } = token;
    const [left, right] = TypeGuards.isHTMLToken(token) ? [token.trimLeft, token.trimRight] : [0, 0];
    const { template, masked } = this.rendering;
    const [from, to] = [Math.min(begin + left, end), Math.max(end - right, begin)];
    const cut = /[\n\r]/.test(template.slice(to, end));
    return this.#piece(token, (_context, emitter) => {
      const wrong = emitter.copy(template.slice(from, to), masked.slice(from, to), from);
      if (cut) emitter.endLine(to);
      if (wrong !== undefined) {
        throw new TemplateProblem(
          "PZ0104",
          "Whether this stands in a comment depends on which branch is taken",
          from + wrong,
          "Let each branch of an {% if %} close the quotes and comments that it opens.",
        );
      }
    });
  }

  #readOutput(range: readonly [number, number]): Write {
    const content = this.rendering.masked.slice(...range);
    const form = foreignForm(content, this.#openForms);
    if (form !== undefined) {
      if (form.assigns !== undefined) this.rendering.doubtful.add(form.assigns);
      throw new TemplateProblem("PZ0104", form.message, range[0], form.hint);
    }
    if (content === "") throw new TemplateProblem("PZ0104", "Nothing stands in {{ }}", range[0]);
    const tokenizer = this.#tokenizer;
    tokenizer.moveTo(range);
    const call = tokenizer.readCall();
    const write = call && outputFunction(call, this.rendering);
    if (call !== undefined && write !== undefined) {
      tokenizer.skipBlank();
      if (!tokenizer.end()) {
        const message = tokenizer.peek() === "|"
          ? `${call.name}() takes no filter`
          : `Unexpected text after ${call.name}(…)`;
        throw new TemplateProblem("PZ0104", message, tokenizer.p);
      }
      return write;
    }
    return this.#readValue(range);
  }

  #readValue(range: readonly [number, number]): Write {
    const tokenizer = this.#tokenizer;
    tokenizer.moveTo(range);
    const value = new Value(tokenizer.readFilteredValue(), this.engine);
    tokenizer.skipBlank();
    if (!tokenizer.end()) throw new TemplateProblem("PZ0104", `Unexpected '${tokenizer.peek()}'`, tokenizer.p);
    return (context, emitter) => emitter.value(toValueSync(value.value(context, false)), range[0]);
  }

  #parseTag(token: TagToken, rest: TopLevelToken[]): Template {
    const { name } = token;
    if (!TAGS.has(name)) throw unknownTag(token);
    if (name === "raw") return this.#parseRaw(token, rest);
    const assigned = name === "assign" ? /^\s*([\w-]+)/.exec(token.args)?.[1] : undefined;
    if (assigned !== undefined) this.rendering.assigned.add(assigned);
    try {
      const tag = this.parseToken(token, rest);
      if (assigned === undefined) return tag;
      return this.#piece(token, (context, emitter) => this.#assign(assigned, () => tag.render(context, emitter)));
    } catch (error) {
      this.#report(error, token.begin);
      if (assigned !== undefined) this.rendering.doubtful.add(assigned);
      if (BLOCKS.includes(name)) this.#skipBlock(name, rest);
      return this.#piece(token, () => {});
    }
  }

  #assign(name: string, assign: () => unknown): void {
    try {
      toValueSync(assign());
      this.rendering.doubtful.delete(name);
    } catch (error) {
      this.rendering.doubtful.add(name);
      throw error;
    }
  }

  #parseRaw(token: TagToken, rest: TopLevelToken[]): Template {
    const content = rest.shift();
    if (content === undefined || TypeGuards.isTagToken(content)) return this.#piece(token, () => {});
    rest.shift();
    return this.#copy(content);
  }

  /** Reads the body of a block whose own tag is wrong, for the problems in it. */
  #skipBlock(name: string, rest: TopLevelToken[]): void {
    const stream = this.parseStream(rest).on(`tag:end${name}`, () => stream.stop());
    for (const branch of BRANCHES) stream.on(`tag:${branch}`, () => {});
    stream.start();
  }

  /** Gives a tag our tokenizer, at the place where Liquid's stands behind the tag's name. */
  #retokenize(token: TagToken): void {
    const { p, N } = token.tokenizer;
    token.tokenizer = new TemplateTokenizer(this.rendering.masked, [p, N], this);
  }

  #piece(token: TopLevelToken, write: Write): Piece {
    return new Piece(token, this.rendering, token.begin, write);
  }

  #report(error: unknown, offset: number): void {
    for (const problem of problemsOf(error, offset, this.rendering)) this.rendering.report(problem);
  }
}

function unknownTag(token: TagToken): TemplateProblem {
  const { name } = token;
  if (name.startsWith("end") && BLOCKS.includes(name.slice(3))) {
    return new TemplateProblem(
      "PZ0104",
      `{% ${name} %} closes nothing: no {% ${name.slice(3)} %} is open here`,
      token.begin,
    );
  }
  if (BRANCHES.includes(name)) {
    const opener = name === "when" ? "case" : "if";
    return new TemplateProblem("PZ0104", `{% ${name} %} stands outside of {% ${opener} %}`, token.begin);
  }
  const hint = HINTS.get(name) ?? hintFor(name);
  return new TemplateProblem("PZ0104", `Unknown tag '${name}'`, token.begin, hint);
}

const HINTS: ReadonlyMap<string, string> = new Map([
  ["end", "Write {% endif %}, {% endfor %} and so on."],
  ["set", "Write {% assign name = value %}."],
  ["elif", "Write {% elsif %}."],
  ["capture", "Write {% assign name = value %}."],
  ["include", "A pipeline can't include another file; ref() reads another pipeline's result."],
  ["render", "A pipeline can't include another file; ref() reads another pipeline's result."],
]);

function hintFor(name: string): string {
  const near = suggestion(
    name,
    [...TAGS, ...BRANCHES, ...BLOCKS.map((block) => `end${block}`)].filter((tag) => tag !== "#"),
  );
  return near === undefined
    ? "The tags are if, unless, case, for, assign, comment and raw."
    : `Did you mean '${near}'?`;
}
