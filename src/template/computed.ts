import {
  type Context,
  evalTokenValue,
  Expression,
  type FilteredValueToken,
  Token,
  TokenKind,
  toValueSync,
  type ValueToken,
} from "liquidjs";

/** A value of a template that is computed each time its place is rendered. */
export class ComputedToken extends Token {
  readonly filters: FilteredValueToken["filters"] = [];
  readonly initial: Expression;

  constructor(input: string, begin: number, end: number, compute: (context: Context) => unknown) {
    super(TokenKind.FilteredValue, input, begin, end);
    this.initial = new Computation(compute);
  }
}

class Computation extends Expression {
  constructor(readonly compute: (context: Context) => unknown) {
    super([]);
  }

  override *evaluate(context: Context): Generator<unknown, unknown, unknown> {
    return yield this.compute(context);
  }
}

/** The value of a token, now. */
export function evaluate(token: ValueToken, context: Context): unknown {
  return toValueSync(evalTokenValue(token, context));
}
