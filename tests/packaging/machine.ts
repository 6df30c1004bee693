import { join } from "node:path";
import { BINARY, PzResult } from "../harness/cli.ts";
import { type Files, writeFiles } from "../harness/temp_dir.ts";

/** A project that needs DuckDB and nothing else. */
export const SMALL_PROJECT: Files = {
  "project.yml": `name: small\nversion: "1"\n`,
  "connections.yml": `lake:\n  connector: localfiles\n  root: out\n`,
  "pipelines/one.sql": `INSERT INTO {{ sink('lake', 'one', format: 'csv', strategy: 'replace') }}\nSELECT 1 AS one\n`,
};

/** The user's number and group of `nobody`. */
export const NOBODY = 65534;

/** Whether tests may mount file systems and become another user. */
export const IS_LINUX_ROOT = Deno.build.os === "linux" && Deno.uid() === 0 && ["setpriv", "unshare"].every(hasProgram);

/** Whether a program is on the PATH. */
export function hasProgram(name: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(join(folder, name)).isFile;
    } catch {
      return false;
    }
  });
}

/**
 * A folder that every user can reach, with a copy of the binary and the small project in it, removed at the end. The
 * folder for temporary files may be closed to others, so it lies in `/tmp`.
 */
export class OpenFolder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async create(): Promise<OpenFolder> {
    const folder = new OpenFolder(await Deno.makeTempDir({ dir: "/tmp", prefix: "pz-open-" }));
    await Deno.chmod(folder.path, 0o755);
    await Deno.copyFile(BINARY ?? "", folder.join("pz"));
    await Deno.chmod(folder.join("pz"), 0o755);
    await writeFiles(folder.join("project"), SMALL_PROJECT);
    return folder;
  }

  join(...parts: readonly string[]): string {
    return join(this.path, ...parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** Runs a program to its end with nothing in its environment but what is given. */
export async function runProgram(
  command: readonly string[],
  cwd: string,
  env: { readonly [name: string]: string } = {},
): Promise<PzResult> {
  const [program = "", ...args] = command;
  const options: Deno.CommandOptions = { args, cwd, env: { ...env }, clearEnv: true, stdin: "null" };
  const { code, signal, stdout, stderr } = await new Deno.Command(program, options).output();
  const decoder = new TextDecoder();
  return new PzResult(code, signal, decoder.decode(stdout), decoder.decode(stderr));
}

/** A program of this machine by its whole path, since what is run has no PATH. */
export function programPath(name: string): string {
  const folder = (Deno.env.get("PATH") ?? "").split(":").find((folder) => {
    try {
      return Deno.statSync(join(folder, name)).isFile;
    } catch {
      return false;
    }
  });
  return join(folder ?? "/usr/bin", name);
}

/** The command that runs another as `nobody`. */
export function asNobody(command: readonly string[]): string[] {
  return [programPath("setpriv"), `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...command];
}

/** The command that runs another with a small file system of its own mounted on a folder, which is gone at the end. */
export function withMount(options: string, folder: string, command: readonly string[]): string[] {
  const script = `/bin/mount -t tmpfs -o "$1" pz-test "$2" && shift 2 && exec "$@"`;
  return [programPath("unshare"), "--mount", "/bin/sh", "-c", script, "sh", options, folder, ...command];
}
