import { join, resolve } from "node:path";
import { TextLineStream } from "./lines.ts";

const ROOT = join(import.meta.dirname ?? ".", "..", "..");

/** The binary under test; undefined: pz runs from its source. */
export const BINARY = binaryUnderTest();

export type RunOptions = {
  readonly cwd: string;
  /** The whole environment of the process: only the place of the tests, its time zone and language, is passed on. */
  readonly env?: { readonly [name: string]: string };
};

/** One line of `--log-format json`, unchecked beyond being an object. */
export type EventLine = { readonly [field: string]: unknown };

/** A finished invocation of pz. */
export class PzResult {
  constructor(
    readonly code: number,
    readonly signal: Deno.Signal | null,
    readonly stdout: string,
    readonly stderr: string,
  ) {}

  /**
   * Every line of stdout as a JSON object.
   *
   * @throws {Error} when a line is not one, or the last has no end
   */
  get events(): readonly EventLine[] {
    if (this.stdout !== "" && !this.stdout.endsWith("\n")) throw new Error("stdout does not end with a line feed");
    return this.stdout.split("\n").slice(0, -1).map(parseEvent);
  }

  /** For the message of an assertion. */
  toString(): string {
    return `exit code ${this.code}\n--- stdout\n${this.stdout}--- stderr\n${this.stderr}`;
  }
}

/** Runs pz to its end with nothing on its stdin. */
export async function runPz(args: readonly string[], options: RunOptions): Promise<PzResult> {
  const { code, signal, stdout, stderr } = await newCommand(args, options).output();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  return new PzResult(code, signal, decoder.decode(stdout), decoder.decode(stderr));
}

/** A pz that runs now: `events` gives the lines of stdout as they come; `finish` waits for the end. */
export class RunningPz implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #stderr: Promise<string>;
  readonly #stdout: string[] = [];
  readonly #lines: ReadableStreamDefaultReader<string>;
  #ended = false;

  constructor(args: readonly string[], options: RunOptions) {
    this.#child = newCommand(args, options).spawn();
    this.#stderr = new Response(this.#child.stderr).text();
    this.#lines = this.#child.stdout
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream())
      .getReader();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** The next line of stdout; undefined at its end. A last line without an end is not given. */
  async next(): Promise<string | undefined> {
    const { value } = await this.#lines.read();
    if (value !== undefined) this.#stdout.push(`${value}\n`);
    return value;
  }

  /** Reads on until an event fits; undefined when stdout ends before. */
  async until(fits: (event: EventLine) => boolean): Promise<EventLine | undefined> {
    for (let line = await this.next(); line !== undefined; line = await this.next()) {
      const event = parseEvent(line);
      if (fits(event)) return event;
    }
    return undefined;
  }

  /** Closes the reading end of stdout, as a pager does that its user left. */
  async closeStdout(): Promise<void> {
    await this.#lines.cancel();
  }

  kill(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Reads the rest of stdout and waits for the end. */
  async finish(): Promise<PzResult> {
    while (await this.next() !== undefined);
    const { code, signal } = await this.#child.status;
    this.#ended = true;
    return new PzResult(code, signal, this.#stdout.join(""), await this.#stderr);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    this.kill("SIGKILL");
    await this.finish();
  }
}

/** Starts pz with nothing on its stdin. */
export function startPz(args: readonly string[], options: RunOptions): RunningPz {
  return new RunningPz(args, options);
}

/** What to start for an invocation of pz: the binary under test, or Deno with the source. */
export function pzCommand(
  args: readonly string[],
  { env = {} }: Pick<RunOptions, "env"> = {},
): { readonly program: string; readonly args: string[]; readonly env: { [name: string]: string } } {
  if (BINARY !== undefined) return { program: BINARY, args: [...args], env: { ...place(), ...env } };
  return {
    program: Deno.execPath(),
    args: [...sourceArguments(), ...args],
    env: { DENO_DIR: denoDir(), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...place(), ...env },
  };
}

/** The time zone and language of the tests, so that a suite started in another place tests pz there. */
function place(): { [name: string]: string } {
  const set = ["TZ", "LANG", "LC_ALL"].map((name) => [name, Deno.env.get(name) ?? ""] as const);
  return Object.fromEntries(set.filter(([, value]) => value !== ""));
}

function newCommand(args: readonly string[], options: RunOptions): Deno.Command {
  const { program, args: all, env } = pzCommand(args, options);
  const { cwd } = options;
  return new Deno.Command(program, {
    args: all,
    cwd,
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

function binaryUnderTest(): string | undefined {
  const path = Deno.env.get("PZ_TEST_BINARY");
  return path === undefined || path === "" ? undefined : resolve(path);
}

let cachedArguments: readonly string[] | undefined;

/** `deno run` with exactly the flags of the task `pz`, so that tests run what users of the source run. */
function sourceArguments(): readonly string[] {
  if (cachedArguments !== undefined) return cachedArguments;
  const config: unknown = JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json")));
  const task = textAt(config, "tasks", "pz");
  const [program, ...flags] = task.split(" ").slice(0, -1);
  if (program !== "deno" || !task.endsWith(" main.ts")) throw new Error(`the task 'pz' has another shape: ${task}`);
  return cachedArguments = [...flags, "-q", "--no-check", "--cached-only", join(ROOT, "main.ts")].filter((flag) =>
    flag !== ""
  );
}

let cachedDenoDir: string | undefined;

/** Where Deno keeps what it has fetched; without it a run from source with an empty environment would fetch again. */
function denoDir(): string {
  if (cachedDenoDir !== undefined) return cachedDenoDir;
  const { stdout } = new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).outputSync();
  return cachedDenoDir = textAt(JSON.parse(new TextDecoder().decode(stdout)), "denoDir");
}

function textAt(value: unknown, ...path: readonly string[]): string {
  let inner = value;
  for (const key of path) {
    inner = typeof inner === "object" && inner !== null
      ? Object.entries(inner).find(([name]) => name === key)?.[1]
      : undefined;
  }
  if (typeof inner !== "string") throw new Error(`there is no text at '${path.join(".")}'`);
  return inner;
}

function parseEvent(line: string): EventLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`stdout holds a line that is not JSON: ${line}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`stdout holds a line that is not a JSON object: ${line}`);
  }
  return { ...value };
}
