import { strictEqual } from "node:assert/strict";
import { parseByteSize } from "../../../src/util/mod.ts";

Deno.test("sizes are read with decimal and binary units in every spelling and case", () => {
  for (
    const [text, bytes] of [
      ["1 KB", 1000],
      ["1kib", 1024],
      ["500MB", 500_000_000],
      ["500 megabytes", 500_000_000],
      ["1kilobyte", 1000],
      ["512M", 512_000_000],
      ["1.5GiB", 1_610_612_736],
      ["2TB", 2_000_000_000_000],
      ["1TiB", 1_099_511_627_776],
      ["0.5B", 1],
      ["7 bytes", 7],
      ["1 byte", 1],
    ] as const
  ) strictEqual(parseByteSize(text), bytes, text);
});

Deno.test("what is no size is none", () => {
  const wrong = ["", "GB", "1 XB", "-1B", "1e3B", "1,5GB", "50%", "1024", "1  KB", "1 iB", "1 MiBs", " 1KB", "1KB\n"];
  for (const text of wrong) strictEqual(parseByteSize(text), undefined, text);
});
