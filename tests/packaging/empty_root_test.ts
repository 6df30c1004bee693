import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { BINARY, type PzResult } from "../harness/cli.ts";
import { writeFiles } from "../harness/temp_dir.ts";
import { hasProgram, IS_LINUX_ROOT, OpenFolder, programPath, runProgram } from "./machine.ts";

const asRoot = { ignore: BINARY === undefined || !IS_LINUX_ROOT || !["chroot", "ldd", "mount"].every(hasProgram) };

const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** Reads through a connector's process, and writes a file. */
const GENERATED = {
  "project.yml": `name: generated\nversion: "1"\n`,
  "connections.yml": `gen: { connector: generate }\nlake: { connector: localfiles, root: out }\n`,
  "pipelines/p.sql": `INSERT INTO {{ sink('lake', 'p', format: 'csv', strategy: 'replace') }}\n` +
    `SELECT count(*) AS n, sum(id) AS ids FROM {{ source('gen', 'things', rows: 1000) }}\n`,
};

/** The C library and its loader, and the two libraries beside them, which is all that the binary needs. */
async function librariesOf(binary: string): Promise<string[]> {
  const { stdout } = await runProgram([programPath("ldd"), binary], "/");
  const found = [...stdout.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(/gm)].map(([, path = ""]) => path);
  const libgcc = found.find((path) => path.endsWith("/libgcc_s.so.1")) ?? "";
  return [...found, join(dirname(libgcc), "libstdc++.so.6")];
}

/**
 * Makes the binary's folder a root with nothing but it and the libraries in it. The program that is returned runs the
 * binary there, with no network, no other process in sight and nothing in its environment.
 */
async function emptyRoot(folder: OpenFolder): Promise<(...args: readonly string[]) => Promise<PzResult>> {
  await Deno.remove(folder.join("project"), { recursive: true });
  for (const path of [...await librariesOf(folder.join("pz")), CERTIFICATES]) {
    await Deno.mkdir(folder.join(dirname(path)), { recursive: true });
    await Deno.copyFile(path, folder.join(path));
  }
  for (const path of ["proc", "tmp"]) await Deno.mkdir(folder.join(path));
  const script = `/bin/mount -t proc proc "$1/proc" && exec ${programPath("chroot")} "$@"`;
  const namespaces = [programPath("unshare"), "--mount", "--net", "--pid", "--fork", "/bin/sh", "-c", script, "sh"];
  return (...args) => runProgram([...namespaces, folder.path, "/pz", ...args], "/");
}

Deno.test(
  "in a root with glibc, libstdc++ and CA files alone, without a network, projects work (needs root)",
  asRoot,
  async () => {
    await using folder = await OpenFolder.create();
    const pz = await emptyRoot(folder);
    await writeFiles(folder.join("generated"), GENERATED);
    const commands = [
      ["--version"],
      ["init", "shop", "--template", "sample"],
      ["validate", "--project", "/shop"],
      ["plan", "--project", "/shop"],
      ["run", "--all", "--project", "/shop"],
      ["runs", "--project", "/shop"],
      ["run", "--project", "/generated"],
    ];
    for (const args of commands) {
      const result = await pz(...args);
      assert.equal(result.code, 0, `pz ${args.join(" ")}: ${result}`);
    }
    const totals = await Deno.readTextFile(folder.join("shop/out/order_totals/order_totals.csv"));
    assert.equal(totals.trimEnd().split("\n").length, 3, totals);
    assert.equal(await Deno.readTextFile(folder.join("generated/out/p/p.csv")), "n,ids\n1000,499500\n");
  },
);

Deno.test(
  "without libstdc++ one coded message says what is missing and how to get it (needs root)",
  asRoot,
  async () => {
    await using folder = await OpenFolder.create();
    const pz = await emptyRoot(folder);
    await writeFiles(folder.join("generated"), GENERATED);
    for (const path of await librariesOf(BINARY ?? "")) {
      if (path.endsWith("/libstdc++.so.6")) await Deno.remove(folder.join(path));
    }
    assert.equal((await pz("--version")).code, 0);
    const result = await pz("run", "--project", "/generated");
    assert.notEqual(result.code, 0);
    assert.match(result.stderr, /^error PZ07\d\d: .*libstdc\+\+\.so\.6.*hint: .*libstdc\+\+/m, result.toString());
    assert.equal(result.stderr.match(/^error /gm)?.length, 1, result.toString());
  },
);
