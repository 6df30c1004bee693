import { LiquidError } from "liquidjs";
import { OutputTooLong } from "./emitter.ts";
import { SIGNATURES } from "./functions.ts";
import { suggestion } from "./suggestion.ts";
import { UnwritableValue } from "./literal.ts";
import { CONSTANTS } from "./pipeline_context.ts";
import { type Rendering, TemplateProblem } from "./rendering.ts";

/** Every problem that something thrown while reading or rendering a template stands for. */
export function problemsOf(error: unknown, offset: number, rendering: Rendering): TemplateProblem[] {
  if (error instanceof TemplateProblem) return [error];
  if (error instanceof UnwritableValue) return [new TemplateProblem("PZ0104", error.message, offset, error.hint)];
  if (error instanceof OutputTooLong) {
    return [new TemplateProblem("PZ0104", "The pipeline's SQL gets too long", offset)];
  }
  if (LiquidError.is(error)) return liquidProblems(error, rendering);
  if (error instanceof Error) return plainProblem(error.message, offset, rendering);
  throw error;
}

function liquidProblems(error: LiquidError, rendering: Rendering): TemplateProblem[] {
  const offset = error.token.begin;
  if ("errors" in error && Array.isArray(error.errors)) {
    return error.errors.flatMap((each: unknown) => problemsOf(each, offset, rendering));
  }
  if (error.originalError !== undefined) return problemsOf(error.originalError, offset, rendering);
  return plainProblem(error.message.replace(/, line:\d+, col:\d+$/, ""), offset, rendering);
}

/** Says in our words what Liquid says in its own. */
function plainProblem(message: string, offset: number, rendering: Rendering): TemplateProblem[] {
  const problem = (text: string, hint?: string) => [new TemplateProblem("PZ0104", text, offset, hint)];
  const after = (start: string) => message.startsWith(start) ? message.slice(start.length) : undefined;

  const variable = after("undefined variable: ");
  if (variable !== undefined) return undefinedVariable(variable, offset, rendering);
  if (message.endsWith(" not closed")) {
    const opened = rendering.template.slice(offset, offset + 2);
    if (message.startsWith("output")) {
      return problem("This {{ has no }}", "For SQL that holds {{ itself, put it into {% raw %}…{% endraw %}.");
    }
    const name = /^\{%-?\s*(\w+)/.exec(rendering.template.slice(offset))?.[1] ?? "";
    const end = rendering.template.indexOf("%}", offset);
    if (opened === "{%" && (end === -1 || message.startsWith('tag "'))) {
      return problem("This {% has no %}", "For SQL that holds {% itself, put it into {% raw %}…{% endraw %}.");
    }
    const closing = new RegExp(`\\{%-?\\s*end${name}\\b`).test(rendering.template.slice(offset));
    return problem(
      `{% ${name} %} has no {% end${name} %}`,
      closing ? "A tag in a comment doesn't count." : undefined,
    );
  }
  if (message === 'expected "|" before filter') return problem("Unexpected text behind a value");
  if (message.startsWith("invalid value expression") || message.startsWith("unexpected token")) {
    return problem("A value is missing here", "Write a name, a text in quotes, a number or a call.");
  }
  if (message.startsWith("illegal tag: ")) return problem("Expected {% for name in list %}");
  if (message.startsWith("illegal tag syntax")) {
    return problem(
      "A tag's name is missing after {%",
      "For SQL that holds {% itself, put it into {% raw %}…{% endraw %}.",
    );
  }
  if (message.startsWith('unexpected "')) {
    const text = JSON.parse(message.slice("unexpected ".length));
    return problem(
      `Unexpected '${text}'`,
      String(text).startsWith("if ") ? `Write {% elsif ${String(text).slice(3)} %}.` : undefined,
    );
  }
  if (message === "memory alloc limit exceeded") {
    return problem("The template needs too much memory", "Make its loops shorter.");
  }
  if (message === "template render limit exceeded") {
    return problem("The template takes too long", "Make its loops shorter.");
  }
  return problem(message.charAt(0).toUpperCase() + message.slice(1));
}

function undefinedVariable(path: string, offset: number, rendering: Rendering): TemplateProblem[] {
  const [root = path] = path.split(".");
  if (rendering.doubtful.has(root)) return [];
  if (path !== root) return [new TemplateProblem("PZ0104", `'${path}' does not exist`, offset)];
  const hint = calledWith(root, offset, rendering) ?? hintForName(root, isArgument(offset, rendering), rendering);
  return [new TemplateProblem("PZ0104", `Unknown name '${root}'`, offset, hint)];
}

/** For a name that stands without the quotes that env() and var() want around it. */
function calledWith(name: string, offset: number, { template }: Rendering): string | undefined {
  const called = /\b(env|var)\s*\(\s*$/.exec(template.slice(Math.max(0, offset - 200), offset))?.[1];
  return called === undefined ? undefined : `Names stand in quotes: ${called}('${name}').`;
}

/** Whether what stands at an offset is the value of a named argument, or an item of its list. */
function isArgument(offset: number, { template }: Rendering): boolean {
  return /[(,]\s*\w+\s*:\s*(?:\[[^\]{}]*)?$/.test(template.slice(0, offset));
}

function hintForName(name: string, argument: boolean, rendering: Rendering): string {
  if (Object.hasOwn(rendering.context.project.vars, name)) return `Write var('${name}') for a variable of the project.`;
  if (Object.hasOwn(SIGNATURES, name)) return `As in {{ ${SIGNATURES[name]?.example} }}.`;
  const { connections, pipelines } = rendering.context.project;
  if (Object.hasOwn(connections, name) || pipelines.some((pipeline) => pipeline.name === name)) {
    return `Names stand in quotes: '${name}'.`;
  }
  if (name === "target") return "There are no targets: what differs from place to place is var('name') or env('NAME').";
  const near = suggestion(name, [...rendering.assigned, ...CONSTANTS]);
  if (near !== undefined) return `Did you mean '${near}'?`;
  const variable = suggestion(name, Object.keys(rendering.context.project.vars));
  if (variable !== undefined) return `Did you mean var('${variable}')?`;
  if (argument) return `Names stand in quotes: '${name}'.`;
  return `Known are ${CONSTANTS.join(", ")}, what {% assign %} names, and var('name').`;
}
