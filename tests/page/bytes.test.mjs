import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { Reader, unfolded, unpacked } from "../../trace/page/assets/bytes.js";

/// Columns in the format of trace/page/columns.h.
function column(values) {
  const bytes = [];
  const add = (value) => {
    for (; value >= 128n; value /= 128n) bytes.push(Number(value % 128n) + 128);
    bytes.push(Number(value));
  };
  add(BigInt(values.length));
  values.forEach((value) => add(BigInt(value)));
  return Uint8Array.from(bytes);
}

test("numbers of all sizes are read as they were written", () => {
  const values = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 40 + 3, 2 ** 52 + 1];
  assert.deepEqual([...new Reader(column(values)).column()], values);
});

test("numbers below zero are folded into those above", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map(unfolded), [0, -1, 1, -2, 2]);
  assert.deepEqual([...new Reader(column([0, 1, 2, 3])).signedColumn()], [0, -1, 1, -2]);
});

test("references are changes, and 0 is none", () => {
  assert.deepEqual([...new Reader(column([1 + 10, 0, 1 + 2, 1 + 1])).references()], [5, -1, 6, 5]);
});

test("packed bytes come back", async () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) & 255);
  assert.deepEqual(await unpacked(`\n${deflateSync(bytes).toString("base64")}\n`), bytes);
});
