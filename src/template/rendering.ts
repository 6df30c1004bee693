import { type ErrorCode, type Position, PzError } from "../errors/mod.ts";
import type { PipelineFile } from "../project/mod.ts";
import { maskComments } from "./comments.ts";
import { positionsOf } from "./positions.ts";
import type { RefCall, RenderContext, SinkCall, SourceCall, WatermarkCall } from "./rendered.ts";
import { sha256Hex } from "../util/mod.ts";
import { replaceTexts } from "./values.ts";

/** Problems of one template that are told; a loop could otherwise find the same ones without end. */
const MAX_PROBLEMS = 50;

/** A problem at an offset of the template. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem";
  constructor(readonly code: ErrorCode, message: string, readonly offset: number, readonly hint?: string) {
    super(message);
  }
}

/** What is known and found while one pipeline's template is read and rendered. */
export class Rendering {
  readonly template: string;
  /** The template with the braces in comments masked, at equal length. */
  readonly masked: string;
  readonly positionAt: ReturnType<typeof positionsOf>;
  readonly sources: SourceCall[] = [];
  readonly refs: RefCall[] = [];
  readonly sinks: SinkCall[] = [];
  readonly watermarks: WatermarkCall[] = [];
  readonly errors: PzError[] = [];
  readonly warnings: PzError[] = [];
  readonly secrets = new Set<string>();
  /** What stands for run identity and secrets in the SQL that is hashed, and in the SQL that is shown. */
  readonly identityTexts = new Map<string, string>();
  readonly shownTexts = new Map<string, string>();
  /** Names that `assign` gives values to, and those whose value is missing because of a problem already told. */
  readonly assigned = new Set<string>();
  readonly doubtful = new Set<string>();
  /** Whether `run_id` or `run_started_at` was read. */
  usesRunIdentity = false;
  readonly #told = new Set<string>();

  constructor(readonly pipeline: PipelineFile, readonly context: RenderContext) {
    this.template = pipeline.template;
    this.masked = maskComments(pipeline.template);
    this.positionAt = positionsOf(pipeline.file, pipeline.template);
  }

  /** Whether as many problems were found as are told. */
  get full(): boolean {
    return this.#told.size >= MAX_PROBLEMS;
  }

  /** Records a problem, once per place. */
  report(problem: TemplateProblem): void {
    this.add([new PzError(problem.code, problem.message, { ...this.positionAt(problem.offset), hint: problem.hint })]);
  }

  /** Records errors, each once, with secrets in them masked. */
  add(errors: readonly PzError[]): void {
    for (const error of errors) {
      const key = `${error.line}:${error.column}:${error.code}:${error.message}`;
      if (this.#told.has(key) || this.full) continue;
      this.#told.add(key);
      this.errors.push(this.#masked(error));
    }
  }

  /** Records warnings, with secrets in them masked. */
  warn(warnings: readonly PzError[]): void {
    for (const warning of warnings) this.warnings.push(this.#masked(warning));
  }

  #masked(error: PzError): PzError {
    if (this.shownTexts.size === 0) return error;
    const mask = (text: string) => String(replaceTexts(text, this.shownTexts));
    const hint = error.hint === undefined ? undefined : mask(error.hint);
    return new PzError(error.code, mask(error.message), { ...position(error), hint });
  }

  /** Notes a text that artifacts must not show. */
  addSecret(text: string): void {
    if (text === "" || this.secrets.has(text)) return;
    this.secrets.add(text);
    this.shownTexts.set(text, "***");
    this.identityTexts.set(text, `__pz_env__${sha256Hex(text)}`);
  }

  /** Notes that `run_id` or `run_started_at` was read. */
  addIdentity(name: string, value: string): string {
    this.usesRunIdentity = true;
    this.identityTexts.set(value, `__pz_${name}__`);
    return value;
  }
}

function position({ file, line, column }: PzError): Position {
  return { file, line, column };
}
