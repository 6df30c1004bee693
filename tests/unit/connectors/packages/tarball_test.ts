import assert from "node:assert/strict";
import { unpackTarball } from "../../../../src/connectors/packages/tarball.ts";
import { PzError } from "../../../../src/errors/mod.ts";
import { type Member, npmTarball, tarballOf } from "./package_support.ts";

async function refusal(tarball: Uint8Array<ArrayBuffer>): Promise<string> {
  try {
    await unpackTarball("acme", tarball);
  } catch (error) {
    assert.ok(error instanceof PzError && error.code === "PZ0320", String(error));
    return error.message;
  }
  throw new Error("it was unpacked");
}

Deno.test("a tarball's files come by their paths below its folder", async () => {
  const long = `${"long/".repeat(40)}name.js`;
  const files = await unpackTarball("acme", await npmTarball({ "a.js": "A", "b/c.js": "C", [long]: "L", "empty": "" }));
  assert.deepEqual([...files.keys()], ["a.js", "b/c.js", long, "empty"]);
  assert.equal(new TextDecoder().decode(files.get(long)), "L");
});

const HOSTILE: readonly (readonly [what: string, member: Member])[] = [
  ["a path upwards", { name: "package/../../evil.js", content: "x" }],
  ["an absolute path", { name: "/tmp/evil.js", content: "x" }],
  ["a path of another system", { name: "package\\..\\evil.js", content: "x" }],
  ["a drive", { name: "C:/evil.js", content: "x" }],
  ["a symbolic link", { name: "package/link", type: "symlink", linkname: "/etc/passwd" }],
  ["a hard link", { name: "package/link", type: "link", linkname: "package/a.js" }],
  ["a device", { name: "package/dev", type: "character-device" }],
  ["a pipe", { name: "package/fifo", type: "fifo" }],
];

for (const [what, member] of HOSTILE) {
  Deno.test(`a tarball with ${what} is refused whole`, async () => {
    const message = await refusal(await tarballOf([{ name: "package/a.js", content: "A" }, member]));
    assert.match(message, /^the tarball of package 'acme' holds /);
  });
}

Deno.test("a file that comes twice makes a tarball ambiguous", async () => {
  const twice = [{ name: "package/a.js", content: "1" }, { name: "other/a.js", content: "2" }];
  assert.match(await refusal(await tarballOf(twice)), /twice/);
});

Deno.test("what is no tarball, or a part of one, is damaged", async () => {
  const whole = await npmTarball({ "a.js": "A".repeat(5000) });
  assert.match(await refusal(new TextEncoder().encode("hello")), /is damaged/);
  assert.match(await refusal(whole.slice(0, whole.length >> 1)), /is damaged/);
  const garbage = new Uint8Array(4096).fill(65);
  const zipped = await new Response(new Blob([garbage]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();
  assert.match(await refusal(zipped), /is damaged/);
});

Deno.test("a small tarball that would become large is given up early", async () => {
  const zeros = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (count++ < 400) controller.enqueue(new Uint8Array(1 << 20));
      else controller.close();
    },
  });
  let count = 0;
  const bomb = await new Response(zeros.pipeThrough(new CompressionStream("gzip"))).bytes();
  assert.match(await refusal(bomb), /more than 192 MiB/);
  assert.ok(bomb.length < 1 << 20);
});
