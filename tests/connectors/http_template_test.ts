import assert from "node:assert/strict";
import { join } from "node:path";
import { Duck } from "../harness/duck.ts";
import { TestHttp } from "../harness/http_server.ts";
import { cli, TempFolder } from "../unit/cli/test_io.ts";

Deno.test("the http template validates, plans and runs against a server that answers like the one it names", async () => {
  await using server = new TestHttp((request, url) => {
    if (url.pathname === "/") return Response.json({ issues_url: "…" });
    const page = Number(url.searchParams.get("page") ?? 1);
    const issues = [1, 2].map((each) => ({
      id: 9_007_199_254_740_000 + page * 10 + each,
      number: page * 10 + each,
      title: `Bug ${each}`,
      state: each === 1 ? "open" : "closed",
      comments: page,
      user: { login: `user${each}`, id: each },
      labels: [{ name: "bug" }],
      created_at: "2026-03-01T10:00:00Z",
      updated_at: "2026-03-02T10:00:00Z",
    }));
    assert.equal(request.headers.get("accept"), "application/vnd.github+json");
    const next = `${url.origin}${url.pathname}?page=${page + 1}`;
    return Response.json(issues, { headers: { link: `<${next}>; rel="next", <${next}0>; rel="last"` } });
  });
  await using temp = new TempFolder();
  await cli(["init", "shop", "-t", "http"], { cwd: temp.path });
  const cwd = join(temp.path, "shop");
  const file = join(cwd, "connections.yml");
  const text = await Deno.readTextFile(file);
  assert.match(text, /^ {2}base_url: https:\/\/api\.github\.com$/m);
  await Deno.writeTextFile(file, text.replace("https://api.github.com", server.origin));
  for (const args of [["validate", "--connect"], ["plan"], ["run"]]) {
    const { code, stdout, stderr } = await cli(args, { cwd });
    assert.equal(code, 0, stdout + stderr);
    if (args[0] === "plan") {
      assert.match(stdout, new RegExp(`^grant: github \\(http\\) net 127\\.0\\.0\\.1:${server.port}$`, "m"));
    }
    if (args[0] === "run") assert.match(stdout, /max_pages ended the read after 3 pages, and there are more/);
  }
  using duck = await Duck.open();
  assert.deepEqual(await duck.rows(`SELECT count(*), min(id), max(author) FROM '${cwd}/out/issues/*.parquet'`), [
    ["6", "9007199254740011", "user2"],
  ]);
  assert.deepEqual(await duck.rows(`SELECT * FROM '${cwd}/out/authors/authors.csv' ORDER BY 1`), [
    ["user1", "3", "6"],
    ["user2", "3", "6"],
  ]);
  assert.deepEqual(server.seen.map(({ path }) => path), [
    "/",
    "/repos/duckdb/duckdb/issues?state=all&sort=updated&direction=desc&per_page=100",
    "/repos/duckdb/duckdb/issues?page=2",
    "/repos/duckdb/duckdb/issues?page=3",
  ]);
});
