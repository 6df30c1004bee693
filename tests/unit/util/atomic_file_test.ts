import { deepStrictEqual, notStrictEqual, strictEqual, throws } from "node:assert/strict";
import { join } from "node:path";
import { writeFileAtomically, writeFilesAtomically } from "../../../src/util/mod.ts";

function withFolder(test: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    test(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function names(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** Tells whether a file was replaced: a replaced one is another file. */
function inode(path: string): number | null {
  return Deno.statSync(path).ino;
}

Deno.test("writeFileAtomically replaces a file and leaves nothing beside it", () =>
  withFolder((folder) => {
    const path = join(folder, "a.json");
    writeFileAtomically(path, "one");
    writeFileAtomically(path, new Uint8Array([0x74, 0x77, 0x6f]));
    strictEqual(Deno.readTextFileSync(path), "two");
    deepStrictEqual(names(folder), ["a.json"]);
  }));

Deno.test("writeFileAtomically keeps the old file and leaves nothing beside it when it fails", () =>
  withFolder((folder) => {
    const path = join(folder, "a.json");
    Deno.mkdirSync(path);
    throws(() => writeFileAtomically(path, "one"));
    deepStrictEqual(names(folder), ["a.json"]);
  }));

Deno.test("writeFilesAtomically writes what is new or different and leaves the rest alone", () =>
  withFolder((folder) => {
    const write = (b: string) => writeFilesAtomically(folder, [["a.sql", "SELECT 'é'\n"], ["b.sql", b], ["c.sql", ""]]);
    write("SELECT 1\n");
    const before = names(folder).map((name) => inode(join(folder, name)));
    write("SELECT 2\n");
    deepStrictEqual(names(folder), ["a.sql", "b.sql", "c.sql"]);
    deepStrictEqual(names(folder).map((name) => Deno.readTextFileSync(join(folder, name))), [
      "SELECT 'é'\n",
      "SELECT 2\n",
      "",
    ]);
    const after = names(folder).map((name) => inode(join(folder, name)));
    deepStrictEqual([after[0], after[2]], [before[0], before[2]]);
    notStrictEqual(after[1], before[1]);
  }));
