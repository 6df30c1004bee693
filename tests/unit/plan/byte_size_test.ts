import { strictEqual } from "node:assert/strict";
import { parseByteSize, parsePercentage } from "../../../src/plan/byte_size.ts";

Deno.test("sizes are read with decimal and binary units in any case; a bare number is bytes", () => {
  for (
    const [text, bytes] of [
      ["1024", 1024],
      ["1 KB", 1000],
      ["1kib", 1024],
      ["500MB", 500_000_000],
      ["1.5GiB", 1_610_612_736],
      ["2TB", 2_000_000_000_000],
      ["0.5B", 1],
      [" 3 MiB ", 3_145_728],
    ] as const
  ) strictEqual(parseByteSize(text), bytes, text);
  for (const text of ["", "GB", "1 XB", "-1", "1e3", "1,5GB", "50%"]) strictEqual(parseByteSize(text), undefined, text);
});

Deno.test("a percentage is a share of a total", () => {
  strictEqual(parsePercentage("12.5 %", 1000), 125);
  strictEqual(parsePercentage("50", 1000), undefined);
});
