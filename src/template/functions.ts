import { type Context, TokenKind } from "liquidjs";
import type { ErrorCode } from "../errors/mod.ts";
import {
  type CallBlock,
  entityNameError,
  readBlockFromCall,
  type SourcePosition,
  type ValueMap,
  writeBlockFromCall,
} from "../project/mod.ts";
import { evaluate } from "./computed.ts";
import type { SqlEmitter } from "./emitter.ts";
import { describe, stagingRelation } from "./literal.ts";
import { type Rendering, TemplateProblem } from "./rendering.ts";
import { suggestion } from "./suggestion.ts";
import type { Argument, ParsedCall } from "./tokenizer.ts";
import { NotAnOption, toProjectValue, toTemplateValue } from "./values.ts";

type Signature = {
  /** The code of every problem with the call's own shape. */
  readonly code: ErrorCode;
  /** What the positional arguments are called. */
  readonly positional: readonly string[];
  readonly named: boolean;
  readonly example: string;
};

/** Every function of the template language. */
export const SIGNATURES: { readonly [name: string]: Signature } = {
  source: {
    code: "PZ0201",
    positional: ["connection", "entity"],
    named: true,
    example: "source('crm', 'orders', format: 'csv')",
  },
  ref: { code: "PZ0201", positional: ["pipeline"], named: false, example: "ref('orders')" },
  sink: {
    code: "PZ0208",
    positional: ["connection", "entity"],
    named: true,
    example: "sink('lake', 'orders', strategy: 'replace')",
  },
  watermark: {
    code: "PZ0104",
    positional: ["connection", "entity"],
    named: false,
    example: "watermark('crm', 'orders')",
  },
  var: { code: "PZ0104", positional: ["name"], named: false, example: "var('region')" },
  env: { code: "PZ0104", positional: ["name"], named: false, example: "env('REGION')" },
};

/** Functions that give a value, which may stand wherever a value may; the others stand by themselves in `{{ }}`. */
const VALUE_FUNCTIONS: ReadonlySet<string> = new Set(["var", "env"]);

/** Functions of other tools, with what pz has in their place. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["config", "Settings of a pipeline stand in pipelines/configs/<name>.yml."],
  [
    "is_incremental",
    "Compare the cursor column with {{ watermark('connection', 'entity') }}; it is NULL on the first run.",
  ],
  ["env_var", "Write env('NAME')."],
  ["now", "Use {{ run_started_at }}, or SQL's own now()."],
  ["this", "Write {{ this }} without parentheses."],
  ["run_id", "Write {{ run_id }} without parentheses."],
  ["run_started_at", "Write {{ run_started_at }} without parentheses."],
]);

/** Reports a call that no function answers. */
export function unknownFunction(call: Pick<ParsedCall, "name" | "offset">): TemplateProblem {
  const names = Object.keys(SIGNATURES);
  const near = suggestion(call.name, names);
  const hint = ELSEWHERE.get(call.name) ??
    (near === undefined ? `The functions are ${names.join(", ")}.` : `Did you mean '${near}'?`);
  return new TemplateProblem("PZ0104", `Unknown function '${call.name}'`, call.offset, hint);
}

/** The function that computes a call to `var` or `env`; other calls are no values. */
export function valueFunction(call: ParsedCall, rendering: Rendering): (context: Context) => unknown {
  const signature = signatureOf(call);
  if (!VALUE_FUNCTIONS.has(call.name)) {
    throw new TemplateProblem(
      signature.code,
      `${call.name}() is no value: it stands by itself in {{ }}`,
      call.offset,
      `Write {{ ${signature.example} }} where the SQL needs it.`,
    );
  }
  checkShape(call, signature);
  return (context) => {
    const [name = ""] = textArguments(call, signature, context);
    return call.name === "var" ? variable(name, call, rendering) : environment(name, call, rendering);
  };
}

/** The function that writes a call that stands by itself and records it; undefined for `var` and `env`. */
export function outputFunction(
  call: ParsedCall,
  rendering: Rendering,
): ((context: Context, emitter: SqlEmitter) => void) | undefined {
  const signature = signatureOf(call);
  if (VALUE_FUNCTIONS.has(call.name)) return undefined;
  checkShape(call, signature);
  const position = rendering.positionAt(call.offset);
  return (context, emitter) => {
    const [first = "", entity = ""] = textArguments(call, signature, context, rendering.secrets);
    if (entity !== "") checkEntity(entity, call, rendering);
    switch (call.name) {
      case "source": {
        const folded = entity.replaceAll(/[^A-Za-z0-9_]/g, "_");
        emitter.made(stagingRelation(`src_${first}__${folded}`), call.offset, "source()");
        const read = readNamed(call, context, rendering, position, readBlockFromCall);
        rendering.sources.push({ connection: first, entity, read, position });
        return;
      }
      case "ref": {
        emitter.made(pipelineRelation(first, rendering), call.offset, "ref()");
        rendering.refs.push({ pipeline: first, position });
        return;
      }
      case "sink": {
        const marker = `__pz_sink__${first}__${entity}__`;
        emitter.marker(marker, call.offset, "sink()");
        const write = readNamed(call, context, rendering, position, writeBlockFromCall);
        rendering.sinks.push({ connection: first, entity, write, marker, position });
        return;
      }
      default: {
        const sentinel = `__pz_watermark__${first}__${entity}`;
        emitter.made(`'${sentinel.replaceAll("'", "''")}'`, call.offset, "watermark()");
        rendering.watermarks.push({ connection: first, entity, sentinel, position });
      }
    }
  };
}

function signatureOf(call: ParsedCall): Signature {
  const signature = Object.hasOwn(SIGNATURES, call.name) ? SIGNATURES[call.name] : undefined;
  if (signature === undefined) throw unknownFunction(call);
  return signature;
}

/** Checks what can be seen before anything is evaluated: how many arguments there are, and their names. */
function checkShape(call: ParsedCall, signature: Signature): void {
  const { code, positional, example } = signature;
  const hint = `As in ${example}.`;
  const surplus = call.positional[positional.length];
  if (surplus !== undefined || call.positional.length < positional.length) {
    const wanted = positional.map((name) => `the ${name}`).join(" and ");
    const count = call.positional.length;
    const given = count === 0 ? "nothing" : `${count} argument${count === 1 ? "" : "s"}`;
    throw new TemplateProblem(
      code,
      `${call.name}() takes ${wanted}${signature.named ? " first, then named arguments" : ""}, but got ${given}`,
      surplus?.offset ?? call.offset,
      hint,
    );
  }
  const seen = new Set<string>();
  for (const argument of call.named) {
    if (!signature.named) {
      throw new TemplateProblem(code, `${call.name}() has no argument '${argument.name}'`, argument.offset, hint);
    }
    if (seen.has(argument.name)) {
      throw new TemplateProblem(
        code,
        `The argument '${argument.name}' stands twice in ${call.name}()`,
        argument.offset,
      );
    }
    seen.add(argument.name);
  }
}

/** The positional arguments. @param secrets texts that none may be, as what is recorded is shown everywhere */
function textArguments(
  call: ParsedCall,
  signature: Signature,
  context: Context,
  secrets: ReadonlySet<string> = new Set(),
): string[] {
  return call.positional.map((argument, index) => {
    const what = `The ${signature.positional[index]} of ${call.name}()`;
    const value = evaluate(argument.value, context);
    if (typeof value === "string" && secrets.has(value) && argument.value.kind !== TokenKind.Quoted) {
      throw new TemplateProblem(
        signature.code,
        `${what} comes from env(), whose values are never shown`,
        argument.offset,
        "Give it to a variable, as in 'vars: { name: ${NAME} }' of project.yml, and write var('name').",
      );
    }
    if (typeof value === "string" && value !== "") return value;
    const found = value === "" ? "is empty" : `must be a text, not ${describe(value)}`;
    throw new TemplateProblem(signature.code, `${what} ${found}`, argument.offset, `As in ${signature.example}.`);
  });
}

function readNamed<T>(
  call: ParsedCall,
  context: Context,
  rendering: Rendering,
  position: SourcePosition,
  read: (named: ValueMap, position: SourcePosition) => CallBlock<T>,
): T | undefined {
  if (call.named.length === 0) return undefined;
  const entries = call.named.map((argument) => [argument.name, optionValue(argument, argument.name, context)] as const);
  const { value, errors, warnings } = read(Object.fromEntries(entries), position);
  rendering.add(errors);
  rendering.warn(warnings);
  return value;
}

function optionValue(argument: Argument, name: string, context: Context): ValueMap[string] {
  try {
    return toProjectValue(evaluate(argument.value, context));
  } catch (error) {
    if (!(error instanceof NotAnOption)) throw error;
    throw new TemplateProblem("PZ0137", `The argument '${name}' can't be kept: ${error.message}`, argument.offset);
  }
}

function checkEntity(entity: string, call: ParsedCall, rendering: Rendering): void {
  const error = entityNameError(entity, rendering.positionAt(call.positional[1]?.offset ?? call.offset));
  if (error !== undefined) rendering.add([error]);
}

function pipelineRelation(name: string, rendering: Rendering): string {
  return rendering.context.ephemerals.has(name) ? `__pz_cte__${name}` : stagingRelation(name);
}

function variable(name: string, call: ParsedCall, rendering: Rendering): unknown {
  const { vars } = rendering.context.project;
  const value = Object.hasOwn(vars, name) ? vars[name] : undefined;
  if (value !== undefined) return toTemplateValue(value);
  const near = suggestion(name, Object.keys(vars));
  throw new TemplateProblem(
    "PZ0104",
    `Unknown variable '${name}'`,
    call.positional[0]?.offset ?? call.offset,
    near === undefined
      ? `Add '${name}' under 'vars:' in project.yml, or pass it with --vars.`
      : `Did you mean '${near}'?`,
  );
}

function environment(name: string, call: ParsedCall, rendering: Rendering): string {
  const { env } = rendering.context;
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined) {
    throw new TemplateProblem(
      "PZ0103",
      `The environment variable '${name}' is not set`,
      call.positional[0]?.offset ?? call.offset,
      `Set '${name}' before running pz.`,
    );
  }
  rendering.addSecret(value);
  return value;
}
