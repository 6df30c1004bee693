import assert from "node:assert/strict";
import type { ConfigMap } from "../../../../src/connectors/mod.ts";
import { describePackage } from "../../../../src/connectors/packages/description.ts";
import { parseManifest } from "../../../../src/connectors/packages/manifest.ts";
import { manifestText } from "./package_support.ts";

const CONTEXT = { projectRoot: "/project" };

function describe() {
  const manifest = parseManifest(
    manifestText({
      connection: {
        properties: {
          path: { type: "string", description: "the folder" },
          port: { type: "integer", minimum: 1, maximum: 65535, default: 7000 },
        },
        required: ["path"],
      },
      read: { properties: { limit: { type: "integer" }, order: { enum: ["up", "down"], default: "up" } } },
      permissions: { net: ["localhost:{port}"], read: ["{path}"] },
    }),
    "m.json",
  );
  assert.ok("name" in manifest);
  return describePackage(manifest, { kind: "module", code: new Uint8Array() }, "acme 1.2.0");
}

function ask(config: ConfigMap, options: ConfigMap) {
  return describe().universalRead?.({ connection: "c", entity: "e", config, options }, CONTEXT);
}

Deno.test("a package's connector is described as any other", () => {
  const connector = describe();
  assert.deepEqual([connector.name, connector.canRead, connector.canWrite], ["acme", true, false]);
  assert.deepEqual(connector.universal, { read: true, write: false });
  assert.deepEqual([connector.connectionOptions, connector.readOptions], [["path", "port"], ["limit", "order"]]);
  assert.equal(connector.nativeScan({ connection: "c", entity: "e", config: {}, options: {} }, CONTEXT), undefined);
});

Deno.test("defaults are filled in, in grants, settings and options; paths of permissions become absolute", () => {
  const connector = describe();
  assert.deepEqual(connector.grant({ path: "d" }, CONTEXT), {
    net: ["localhost:7000"],
    read: ["/project/d"],
    write: [],
    env: [],
  });
  assert.deepEqual(connector.childConfig?.({ path: "d" }, CONTEXT), { path: "/project/d", port: 7000 });
  const asked = ask({ path: "d" }, { limit: 5n });
  assert.deepEqual(asked?.ok === true ? asked.value.options : undefined, { order: "up", limit: 5n });
});

Deno.test("settings and options that do not fit are all told, each at its place", () => {
  const asked = ask({ port: 0 }, { limit: "many", order: "sideways" });
  assert.ok(asked?.ok === false);
  assert.deepEqual(asked.problems.map(({ code, setting, option }) => [code, setting, option]), [
    ["PZ0301", "path", undefined],
    ["PZ0301", "port", undefined],
    ["PZ0301", undefined, "limit"],
    ["PZ0301", undefined, "order"],
  ]);
  assert.deepEqual(asked.problems[0], {
    code: "PZ0301",
    message: 'Option "path" is missing',
    hint: "the folder",
    setting: "path",
  });
});
