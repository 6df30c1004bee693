import {
  type Context,
  defaultOperators,
  type FilteredValueToken,
  type Token,
  Tokenizer,
  toValueSync,
  TypeGuards,
  type ValueToken,
} from "liquidjs";
import { ComputedToken, evaluate } from "./computed.ts";
import { closingQuote, outputEnd } from "./delimiters.ts";
import { readNumber } from "./exact_number.ts";
import { FILTERS } from "./filters.ts";
import { TemplateProblem } from "./rendering.ts";
import { suggestion } from "./suggestion.ts";

/** `name(…)` as it stands in a template, its arguments not yet evaluated. */
export type ParsedCall = {
  readonly name: string;
  /** Offset of the name. */
  readonly offset: number;
  readonly positional: readonly Argument[];
  readonly named: readonly NamedArgument[];
};

export type Argument = { readonly value: ValueToken; readonly offset: number };
export type NamedArgument = Argument & { readonly name: string };

/** What a call that stands as a value gives, found when it is read and computed when its place is rendered. */
export type ValueCalls = {
  computationOf(call: ParsedCall): (context: Context) => unknown;
  /** Throws for a name that no function has, before its arguments are read. */
  requireFunction(name: string, offset: number): void;
};

/** Operators of other languages, with Liquid's spelling. */
const FOREIGN_OPERATORS: readonly (readonly [string, string])[] = [
  ["&&", "Write 'and'."],
  ["||", "Write 'or'."],
  ["=", "Write '==' to compare."],
  ["?", "Write {% if … %}…{% else %}…{% endif %}."],
  ["+", "Write '| plus: …'."],
  ["-", "Write '| minus: …'."],
  ["*", "Write '| times: …'."],
  ["/", "Write '| divided_by: …'."],
];

const NUMBER_REGEXP = /[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w-])/y;
const CALL_REGEXP = /([A-Za-z_]\w*)\s*\(/y;
const NAME_REGEXP = /[A-Za-z_]\w*/y;

/**
 * Liquid's tokenizer with what pipelines need beyond it: calls, lists and maps as values, exact numbers, `}}` inside
 * quotes and maps, and no silent skipping of what doesn't fit. It throws TemplateProblem beside Liquid's own errors.
 */
export class TemplateTokenizer extends Tokenizer {
  /** How many calls the place read now is inside of. */
  #depth = 0;

  constructor(input: string, range: readonly [number, number], readonly calls: ValueCalls) {
    super(input, defaultOperators, undefined, [range[0], range[1]]);
  }

  /** Goes to another place in the same text. */
  moveTo(range: readonly [number, number]): void {
    this.p = range[0];
    this.N = range[1];
    this.#depth = 0;
  }

  override readToDelimiter(delimiter: string, respectQuoted = false): number {
    if (delimiter !== "}}") return super.readToDelimiter(delimiter, respectQuoted);
    const end = outputEnd(this.input, this.p);
    this.p = end ?? this.N;
    return end ?? -1;
  }

  override readQuoted(): ReturnType<Tokenizer["readQuoted"]> {
    this.skipBlank();
    const begin = this.p;
    const token = super.readQuoted();
    if (token !== undefined && closingQuote(this.input, begin, this.N) === undefined) {
      throw new TemplateProblem("PZ0104", `The text that starts here with ${this.input[begin]} has no end`, begin);
    }
    return token;
  }

  /** Like Liquid's, but an operand or an operator that is one too many or missing is a problem. */
  override *readExpressionTokens(): IterableIterator<Token> {
    let operator: Token | undefined;
    let complete = false;
    for (const token of super.readExpressionTokens()) {
      const isOperator = TypeGuards.isOperatorToken(token);
      const fits = isOperator && token.getText() !== "not" ? complete : !complete;
      if (!fits) throw new TemplateProblem("PZ0104", `Unexpected '${token.getText()}'`, token.begin);
      operator = isOperator ? token : undefined;
      complete = !isOperator;
      yield token;
    }
    if (operator !== undefined) {
      throw new TemplateProblem("PZ0104", `A value is missing after '${operator.getText()}'`, operator.begin);
    }
    this.skipBlank();
    if (complete && !this.end() && (this.peek() !== "|" || this.peek(1) === "|")) throw this.#unexpected();
  }

  override readFilteredValue(): FilteredValueToken {
    const value = super.readFilteredValue();
    for (const { name, begin } of value.filters) if (!FILTERS.includes(name)) throw unknownFilter(name, begin);
    return value;
  }

  override readValue(): ValueToken | FilteredValueToken | undefined {
    this.skipBlank();
    const value = this.#readNumber() ?? this.#readValueCall();
    if (value !== undefined) return value;
    if (this.peek() === "[") return this.#readList();
    if (this.peek() === "{") return this.#readMap();
    return super.readValue();
  }

  /** Reads `name(…)` if that is what comes. */
  readCall(): ParsedCall | undefined {
    this.skipBlank();
    const offset = this.p;
    const name = this.#match(CALL_REGEXP)?.[1];
    if (name === undefined) return undefined;
    this.calls.requireFunction(name, offset);
    const positional: Argument[] = [];
    const named: NamedArgument[] = [];
    this.#depth++;
    this.#readItems(")", `the arguments of ${name}()`, () => {
      const argument = this.#readArgument();
      if ("name" in argument) named.push(argument);
      else if (named.length === 0) positional.push(argument);
      else throw new TemplateProblem("PZ0104", `Named arguments of ${name}() come last`, argument.offset);
    });
    this.#depth--;
    return { name, offset, positional, named };
  }

  #readArgument(): Argument | NamedArgument {
    const offset = this.p;
    const key = this.#readKey();
    if (key !== undefined) return { name: key, value: this.#readItem(`the value of '${key}'`), offset };
    return { value: this.#readItem("an argument"), offset };
  }

  /** Reads `name:` if that is what comes. */
  #readKey(): string | undefined {
    const begin = this.p;
    const name = this.#match(NAME_REGEXP)?.[0];
    this.skipBlank();
    if (name !== undefined && this.peek() === ":") {
      this.advance();
      return name;
    }
    if (name !== undefined && this.peek() === "=" && this.peek(1) !== "=") {
      throw new TemplateProblem("PZ0104", `Named arguments are written with a colon`, begin, `Write '${name}: …'.`);
    }
    this.p = begin;
    return undefined;
  }

  #readItem(what: string): ValueToken {
    this.skipBlank();
    const begin = this.p;
    const value = this.readValue();
    if (value === undefined) throw new TemplateProblem("PZ0104", `Expected ${what}`, begin);
    return value;
  }

  /** Reads items with commas between them up to and with the closing mark; a comma may stand before it. */
  #readItems(close: string, what: string, readOne: () => void): void {
    for (let first = true;; first = false) {
      this.skipBlank();
      if (!first && this.peek() !== close) {
        if (this.peek() !== ",") this.#failInside(close, what);
        this.advance();
        this.skipBlank();
      }
      if (this.peek() === close) break;
      if (this.end()) this.#failInside(close, what);
      readOne();
    }
    this.advance();
  }

  #failInside(close: string, what: string): never {
    const hint = this.peek() === "|"
      ? "A filter can't stand inside a call: {% assign %} its result to a name first."
      : undefined;
    throw new TemplateProblem("PZ0104", `Expected ',' or '${close}' in ${what}`, this.p, hint);
  }

  #unexpected(): TemplateProblem {
    const rest = this.input.slice(this.p, this.N);
    const [foreign, hint] = FOREIGN_OPERATORS.find(([operator]) => rest.startsWith(operator)) ?? [];
    return new TemplateProblem(
      "PZ0104",
      `Unexpected '${foreign ?? /^[\w-]+|^./u.exec(rest)?.[0] ?? ""}'`,
      this.p,
      hint,
    );
  }

  #readNumber(): ComputedToken | undefined {
    const begin = this.p;
    const text = this.#match(NUMBER_REGEXP)?.[0];
    if (text === undefined) return undefined;
    const number = readNumber(text);
    if (number === undefined) {
      throw new TemplateProblem(
        this.#depth > 0 ? "PZ0137" : "PZ0104",
        `The number ${text} can't be kept exactly`,
        begin,
        this.#depth > 0 ? "Write it in quotes, or with fewer digits." : "Write it in the SQL itself, outside {{ }}.",
      );
    }
    return new ComputedToken(this.input, begin, this.p, () => number);
  }

  #readValueCall(): ComputedToken | undefined {
    const begin = this.p;
    const call = this.readCall();
    if (call === undefined) return undefined;
    const compute = this.calls.computationOf(call);
    const path = this.#readPath();
    const end = this.p;
    return new ComputedToken(this.input, begin, end, (context) => {
      let value = compute(context);
      for (const { member, offset } of path) {
        const name = typeof member === "string" ? member : evaluate(member, context);
        const key = typeof name === "number" ? name : String(name);
        value = toValueSync(context._getFromScope(value, [key], false));
        if (value === undefined) throw new TemplateProblem("PZ0104", `There is no member '${key}'`, offset);
      }
      return value;
    });
  }

  /** Reads what may follow a call: `.name` and `[value]`. */
  #readPath(): { readonly member: string | ValueToken; readonly offset: number }[] {
    const path: { member: string | ValueToken; offset: number }[] = [];
    for (;;) {
      const offset = this.p + 1;
      if (this.peek() === "[") {
        this.advance();
        path.push({ member: this.#readItem("the name or number of a member"), offset });
        this.skipBlank();
        if (this.peek() !== "]") throw new TemplateProblem("PZ0104", "Expected ']'", this.p);
        this.advance();
      } else if (this.peek() === "." && this.peek(1) !== ".") {
        this.advance();
        const member = this.#match(NAME_REGEXP)?.[0];
        if (member === undefined) throw new TemplateProblem("PZ0104", "Expected the name of a member", this.p);
        path.push({ member, offset });
      } else return path;
    }
  }

  #readList(): ComputedToken {
    const begin = this.p;
    const items: ValueToken[] = [];
    this.advance();
    this.#readItems("]", "a list", () => items.push(this.#readItem("a member of the list")));
    return new ComputedToken(this.input, begin, this.p, (context) => items.map((item) => evaluate(item, context)));
  }

  #readMap(): ComputedToken {
    const begin = this.p;
    const members = new Map<string, ValueToken>();
    this.advance();
    this.#readItems("}", "a map", () => {
      const at = this.p;
      const key = this.#readMapKey();
      if (members.has(key)) throw new TemplateProblem("PZ0104", `The key '${key}' stands twice in one map`, at);
      members.set(key, this.#readItem(`the value of '${key}'`));
    });
    return new ComputedToken(this.input, begin, this.p, (context) => {
      const map: { [key: string]: unknown } = Object.create(null);
      for (const [key, value] of members) map[key] = evaluate(value, context);
      return map;
    });
  }

  #readMapKey(): string {
    const at = this.p;
    const key = this.#readKey();
    if (key !== undefined) return key;
    const quoted = this.readQuoted();
    this.skipBlank();
    if (quoted === undefined || this.peek() !== ":") {
      throw new TemplateProblem("PZ0104", "Expected 'key: value' in a map", at);
    }
    this.advance();
    return quoted.content;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.p;
    const match = pattern.exec(this.input);
    if (match === null || this.p + match[0].length > this.N) return undefined;
    this.p += match[0].length;
    return match;
  }
}

function unknownFilter(name: string, offset: number): TemplateProblem {
  const near = suggestion(name, FILTERS);
  const hint = near === undefined ? `The filters are ${FILTERS.join(", ")}.` : `Did you mean '${near}'?`;
  return new TemplateProblem("PZ0104", `Unknown filter '${name}'`, offset, hint);
}
