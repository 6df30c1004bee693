import assert from "node:assert/strict";
import { join } from "node:path";
import { cli, TempFolder } from "./test_io.ts";

const POSIX = Deno.build.os !== "windows";

async function sample(temp: TempFolder): Promise<string> {
  await cli(["init", "demo", "-t", "sample"], { cwd: temp.path });
  return join(temp.path, "demo");
}

Deno.test({
  name: "a file or a dangling link in place of pz's own folder is PZ0531 with its path and the next step",
  ignore: !POSIX,
  fn: async () => {
    await using temp = new TempFolder();
    const cwd = await sample(temp);
    const pz = join(cwd, ".pz");
    const refused = async (verbs: readonly (readonly string[])[], path: string, what: string) => {
      for (const args of verbs) {
        const { code, stderr } = await cli(args, { cwd });
        const line = `error PZ0531: '${path}' is ${what}, but pz needs a folder there — hint: move or delete it; ` +
          "pz then makes the folder\n";
        assert.equal(stderr.slice(stderr.indexOf("error ")), line, args.join(" "));
        assert.equal(code, 3);
      }
    };
    await Deno.writeTextFile(pz, "");
    await refused([["run", "--all"], ["test"], ["plan"], ["compile"], ["runs"], ["clean"]], pz, "a file");
    await Deno.remove(pz);
    await Deno.mkdir(pz);
    await Deno.writeTextFile(join(pz, "runs"), "");
    await refused([["run", "--all"], ["runs"], ["clean", "--purge"]], join(pz, "runs"), "a file");
    await Deno.remove(pz, { recursive: true });
    await Deno.symlink("nowhere", pz);
    await refused([["run", "--all"], ["plan"], ["compile"]], pz, "a link that leads nowhere");
  },
});

Deno.test({
  name: "a current folder whose path is no UTF-8 is PZ0101, exit code 2",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using temp = new TempFolder();
    const main = new URL("../../../main.ts", import.meta.url).pathname;
    const script = `d=$(printf 'x\\377'); mkdir "$d" && cd "$d" && exec "$0" run --no-prompt --allow-all "$1" ls`;
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", script, Deno.execPath(), decodeURIComponent(main)],
      cwd: temp.path,
    }).output();
    assert.equal(new TextDecoder().decode(stdout), "");
    assert.match(
      new TextDecoder().decode(stderr),
      /^error PZ0101: the path of the current folder can't be read: .* — hint: go to a folder .*\n$/,
    );
    assert.equal(code, 2);
  },
});

Deno.test({
  name: "a signal ends pz at once while DuckDB still plans the SQL, and nothing is left behind",
  ignore: !POSIX,
  fn: async () => {
    await using temp = new TempFolder();
    const cwd = join(temp.path, "slow");
    await cli(["init", "slow"], { cwd: temp.path });
    await Deno.mkdir(join(cwd, "pipelines"));
    await Deno.writeTextFile(join(cwd, "pipelines", "a.sql"), "SELECT length(repeat('x', 3000000000)) AS n\n");
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-prompt", "--allow-all", new URL("../../../main.ts", import.meta.url).href, "run", "--all"],
      cwd,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
    let stderr = "";
    // The warning is written between compiling and planning the SQL, which takes many seconds.
    while (!stderr.includes("PZ0223")) stderr += (await reader.read()).value ?? assert.fail(stderr);
    const start = performance.now();
    child.kill("SIGINT");
    for (let part = await reader.read(); !part.done; part = await reader.read()) stderr += part.value;
    const { code, signal } = await child.status;
    assert.ok(performance.now() - start < 5000);
    // Runtimes that plan on the event loop's thread are ended by the system itself.
    if (signal === null) {
      assert.equal(code, 3);
      assert.match(stderr, /\nrun cancelled before any node started\n$/);
    } else assert.equal(signal, "SIGINT");
    assert.throws(() => Deno.statSync(join(cwd, ".pz", "runs")), Deno.errors.NotFound);
  },
});

Deno.test({
  name: "an output folder that is a file fails the sink with its path and the next step",
  ignore: !POSIX,
  fn: async () => {
    await using temp = new TempFolder();
    const cwd = await sample(temp);
    await Deno.writeTextFile(join(cwd, "out"), "");
    const { code, stdout } = await cli(["run", "--all"], { cwd });
    assert.equal(code, 1);
    assert.ok(
      stdout.includes(
        `PZ0501: '${join(cwd, "out")}' is a file, but the output needs a folder there\n` +
          "  hint: move or delete it, or write to another folder: see root and path of the connection\n",
      ),
      stdout,
    );
  },
});

Deno.test("a setting that was filled in from the environment is masked where its connector complains of it", async () => {
  await using temp = new TempFolder();
  const secret = `S3cr%et/p@ss"w'ord`;
  await Deno.mkdir(join(temp.path, "pipelines"));
  await Deno.writeTextFile(join(temp.path, "project.yml"), "name: shop\nversion: 1.0.0\n");
  await Deno.writeTextFile(
    join(temp.path, "pipelines", "a.sql"),
    "INSERT INTO {{ sink('db', 't', strategy: 'replace') }} SELECT 1 AS a",
  );
  for (
    const name of ["host", "port", "ssl_mode", "ssl_root_cert", "connect_timeout_seconds", "command_timeout_seconds"]
  ) {
    const options = { host: "db", database: "d", user: "u", [name]: "${SECRET}" };
    const lines = Object.entries(options).map(([key, value]) => `  ${key}: ${value}\n`);
    await Deno.writeTextFile(join(temp.path, "connections.yml"), `db:\n  connector: postgres\n${lines.join("")}`);
    for (const verb of ["plan", "validate", "run"]) {
      const { code, stdout, stderr } = await cli([verb], { cwd: temp.path, env: { SECRET: secret } });
      assert.match(stderr, new RegExp(`^error PZ0301: .*Option "${name}" is `, "m"), verb);
      assert.doesNotMatch(stdout + stderr, /S3cr/, `${verb} ${name}`);
      assert.equal(code, 2);
    }
  }
});

Deno.test("a repeated --select adds nodes", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { stdout } = await cli(["ls", "--select", "stg_orders", "--select", "product_catalog"], { cwd });
  assert.deepEqual(stdout.split("\n").slice(1, -1).map((line) => line.split(/ +/)[1]), [
    "product_catalog",
    "stg_orders",
  ]);
});

Deno.test("the columns of ls and connectors stand in line", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const [header = "", ...rows] = (await cli(["ls"], { cwd })).stdout.trimEnd().split("\n");
  for (const row of rows) assert.equal(row[header.indexOf("name") - 1], " ", row);
  const [titles = "", ...connectors] = (await cli(["connectors"], { cwd: temp.path })).stdout.trimEnd().split("\n");
  const last = titles.indexOf("capabilities");
  for (const row of connectors) assert.match(row.slice(last - 1), /^ \S+$/, row);
});

Deno.test("--vars with a name that project.yml does not declare is warned of, with what may have been meant", async () => {
  await using temp = new TempFolder();
  const cwd = await sample(temp);
  const { code, stderr } = await cli(["validate", "--vars", '{"min_amont": 5}'], { cwd });
  assert.equal(code, 0);
  assert.equal(
    stderr,
    "warning: PZ0102 --vars sets 'min_amont', which vars: of project.yml does not declare (project.yml) — " +
      "Did you mean 'min_amount'?\n",
  );
});
