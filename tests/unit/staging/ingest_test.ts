import assert from "node:assert/strict";
import { ingestArrow, type IngestProgress } from "../../../src/staging/mod.ts";
import * as arrow from "../../../src/util/arrow.ts";
import { dataOf } from "./arrow_data.ts";
import { batchOf, each, withStaging, x } from "./harness.ts";

const INT = x(new arrow.Int32());
const SCHEMA = new arrow.Schema([INT]);

function integers(count: number, from = 0): arrow.RecordBatch {
  const values = Int32Array.from({ length: count }, (_, row) => from + row);
  return batchOf([INT], [new arrow.Data(INT.type, 0, count, 0, [undefined, values])]);
}

const EXISTS = "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'staging' AND table_name = 't'";

Deno.test("ingest counts rows, bytes and batches and tells them after each batch", async () => {
  await withStaging(async (_, connection) => {
    const seen: IngestProgress[] = [];
    const onProgress = (progress: IngestProgress) => seen.push(progress);
    const total = await ingestArrow(connection, "t", SCHEMA, each(integers(3), integers(5)), { onProgress });
    assert.deepEqual(seen, [{ rows: 3, bytes: 12, batches: 1 }, { rows: 8, bytes: 32, batches: 2 }]);
    assert.deepEqual(total, seen[1]);
    assert.equal(await connection.integer("SELECT count(*) FROM staging.t"), 8n);
  });
});

Deno.test("a stream without batches makes an empty table", async () => {
  await withStaging(async (_, connection) => {
    assert.deepEqual(await ingestArrow(connection, "t", SCHEMA, each(), {}), { rows: 0, bytes: 0, batches: 0 });
    assert.equal(await connection.integer("SELECT count(*) FROM staging.t"), 0n);
  });
});

Deno.test("several INSERTs' worth of rows arrive once each", async () => {
  await withStaging(async (_, connection) => {
    const batches = Array.from({ length: 20 }, (_, index) => integers(150_000, index * 150_000));
    await ingestArrow(connection, "t", SCHEMA, each(...batches), {});
    const facts = await connection.rows("SELECT count(*), count(DISTINCT x), min(x), max(x) FROM staging.t");
    assert.deepEqual(facts, [["3000000", "3000000", "0", "2999999"]]);
  });
});

Deno.test("rows are staged in whole row groups, whatever the size of the batches", async () => {
  await withStaging(async (_, connection) => {
    const sizes = Array.from({ length: 37 }, (_, index) => 70_001 + index);
    let from = 0;
    const batches = sizes.map((size) => integers(size, (from += size) - size));
    await ingestArrow(connection, "t", SCHEMA, each(...batches), {});
    const groups = await connection.rows(
      "SELECT sum(count) FROM pragma_storage_info('staging.t') WHERE segment_type <> 'VALIDITY' GROUP BY row_group_id " +
        "ORDER BY row_group_id",
    );
    const whole = Math.floor(from / 122_880);
    const expected = [...Array.from({ length: whole }, () => "122880"), String(from - whole * 122_880)];
    assert.deepEqual(groups.map(([rows]) => rows), expected);
    assert.deepEqual(
      await connection.rows("SELECT count(*), count(DISTINCT x), min(x), max(x) FROM staging.t"),
      [[String(from), String(from), "0", String(from - 1)]],
    );
  });
});

Deno.test("what a source throws is thrown on, and the table is gone", async () => {
  await withStaging(async (_, connection) => {
    const failure = new Error("the connector died");
    const source = async function* () {
      yield integers(2_000_000);
      await Promise.resolve();
      throw failure;
    };
    await assert.rejects(ingestArrow(connection, "t", SCHEMA, source(), {}), (error) => error === failure);
    assert.equal(await connection.integer(EXISTS), 0n);
    assert.equal(await connection.integer("SELECT 1"), 1n);
  });
});

Deno.test("a value that can't be staged stops the reading of a source that goes on for ever", async () => {
  await withStaging(async (_, connection) => {
    const field = x(new arrow.DateMillisecond());
    const values = new BigInt64Array(1 << 20).fill(1n);
    let ended = false;
    const source = async function* () {
      try {
        while (true) {
          yield batchOf([field], [new arrow.Data(field.type, 0, values.length, 0, [undefined, values])]);
          await Promise.resolve();
        }
      } finally {
        ended = true;
      }
    };
    await assert.rejects(ingestArrow(connection, "t", new arrow.Schema([field]), source(), {}), {
      name: "IngestError",
      message: 'Column "x": 1 ms is no date',
    });
    assert.equal(ended, true);
    assert.equal(await connection.integer(EXISTS), 0n);
  });
});

Deno.test("an abort ends the waiting for a silent source with the signal's reason, and the table is gone", async () => {
  await withStaging(async (_, connection) => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const silent: AsyncIterable<arrow.RecordBatch> = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          queueMicrotask(() => stop.abort(reason));
          return new Promise(() => {});
        },
      }),
    };
    const ingest = ingestArrow(connection, "t", SCHEMA, silent, { signal: stop.signal });
    await assert.rejects(ingest, (error) => error === reason);
    assert.equal(await connection.integer(EXISTS), 0n);
  });
});

Deno.test("a table left by an earlier attempt is replaced, and is gone when the new attempt fails", async () => {
  await withStaging(async (_, connection) => {
    await ingestArrow(connection, "t", SCHEMA, each(integers(3)), {});
    await ingestArrow(connection, "t", SCHEMA, each(integers(1)), {});
    assert.equal(await connection.integer("SELECT count(*) FROM staging.t"), 1n);
    const text = x(new arrow.Utf8());
    const other = batchOf([text], [dataOf(["a"], text.type)]);
    await assert.rejects(ingestArrow(connection, "t", SCHEMA, each(other), {}), {
      name: "IngestError",
      message: 'Column "x" is Utf8 in a batch, Int32 in its schema',
    });
    assert.equal(await connection.integer(EXISTS), 0n);
  });
});

Deno.test("names with quotes, dots and keywords are kept", async () => {
  await withStaging(async (_, connection) => {
    const fields = ['a"b', "select", "c.d", "Ü"].map((name) => new arrow.Field(name, new arrow.Int32(), true));
    const batch = batchOf(fields, fields.map((_, index) => dataOf([index], new arrow.Int32())));
    await ingestArrow(connection, 'src_x__o"dd', new arrow.Schema(fields), each(batch), {});
    const { columns } = await connection.prepare('FROM staging."src_x__o""dd"');
    assert.deepEqual(columns.map(({ name }) => name), ['a"b', "select", "c.d", "Ü"]);
    assert.deepEqual(await connection.rows('FROM staging."src_x__o""dd"'), [["0", "1", "2", "3"]]);
  });
});

Deno.test("a schema without columns is refused", async () => {
  await withStaging(async (_, connection) => {
    await assert.rejects(ingestArrow(connection, "t", new arrow.Schema([]), each(), {}), {
      name: "IngestError",
      message: "The data has no columns",
    });
  });
});

Deno.test("two ingests at once on two connections keep their rows apart", async () => {
  await withStaging(async (staging, first) => {
    using second = await staging.connect();
    const batches = Array.from({ length: 12 }, (_, index) => integers(100_000, index * 100_000));
    await Promise.all([
      ingestArrow(first, "a", SCHEMA, each(...batches), {}),
      ingestArrow(second, "b", SCHEMA, each(...batches), {}),
    ]);
    const same = "SELECT (SELECT count(*) FROM staging.a), (SELECT count(*) FROM staging.b), " +
      "(SELECT sum(x) FROM staging.a) = (SELECT sum(x) FROM staging.b)";
    assert.deepEqual(await first.rows(same), [["1200000", "1200000", "true"]]);
  });
});
