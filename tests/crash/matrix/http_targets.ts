import { createHash } from "node:crypto";
import { TestHttp } from "../../harness/http_server.ts";
import type { Served } from "./server_targets.ts";
import { project, type Target, writeOrders } from "./target.ts";

/** Rows of one request that appends. */
const REQUEST_ROWS = 500;

/** A server that keeps each row that is put to it under its key, and every row that is posted to it. */
export function httpTargets(): Served {
  const kept = new Map<string, Map<string, string>>();
  const posted = new Map<string, string[]>();
  const server = new TestHttp(({ body, method }, { pathname }) => {
    const [, name = "", key = ""] = pathname.split("/");
    if (method === "POST") {
      const rows = body.split("\n").filter((line) => line !== "");
      posted.set(name, [...posted.get(name) ?? [], ...rows]);
      return new Response(null, { status: 202 });
    }
    if (method !== "PUT") return new Response("", { status: 404 });
    const rows = kept.get(name) ?? new Map<string, string>();
    kept.set(name, rows.set(key, body));
    return new Response(null, { status: 204 });
  });
  const connections = `out:\n  connector: http\n  base_url: ${server.origin}\n`;
  const merge: Target = {
    name: "http merge",
    files: ({ name }) => {
      const files = project({
        connections,
        sink: `sink('out', 't', path: '/${name}/{key}', strategy: 'merge', keys: ['id'])`,
      });
      // Each row is a request.
      return { ...files, "pipelines/p.sql": `${String(files["pipelines/p.sql"]).trimEnd()} WHERE id < 300\n` };
    },
    prepare: writeOrders,
    content: ({ name }) => {
      const rows = [...kept.get(name) ?? []].sort(([a], [b]) => a < b ? -1 : 1);
      return Promise.resolve(`${rows.length} rows, ${JSON.stringify(rows).length} characters`);
    },
    litter: () => Promise.resolve([]),
  };
  const append: Target = {
    name: "http append",
    files: ({ name }) =>
      project({
        connections,
        sink: `sink('out', 't', path: '/${name}', strategy: 'append', body_format: 'ndjson', ` +
          `rows_per_request: ${REQUEST_ROWS})`,
      }),
    prepare: writeOrders,
    content: ({ name }) => Promise.resolve(contentOf(new Set(posted.get(name)))),
    judge: ({ name }, whole, said) => {
      const rows = posted.get(name) ?? [];
      const once = new Set(rows);
      const doubled = rows.length - once.size;
      const faults: string[] = [];
      if (contentOf(once) !== whole) faults.push(`the target has ${contentOf(once)} instead of ${whole}`);
      if (doubled > REQUEST_ROWS) faults.push(`${doubled} rows are there twice, more than one request has`);
      if (doubled > 0 && !said.includes("may be there twice")) {
        faults.push(`nobody said that ${doubled} rows are doubled`);
      }
      return faults;
    },
    litter: () => Promise.resolve([]),
  };
  return { targets: [append, merge], stop: () => server[Symbol.asyncDispose]() };
}

/** Rows in a form that any of them changes. */
function contentOf(rows: ReadonlySet<string>): string {
  const sum = createHash("sha256").update([...rows].sort().join("\n")).digest("hex").slice(0, 12);
  return `${rows.size} rows, sum ${sum}`;
}
