import assert from "node:assert/strict";
import { test } from "node:test";
import { filled, fixed, general, gibText, percent, shortTimeText, sizeText, ticksOf, timeText } from "../../trace/page/assets/words.js";

test("times have four digits in the unit that suits them", () => {
  assert.equal(timeText(999), "999 ns");
  assert.equal(timeText(1234), "1.234 \u00b5s");
  assert.equal(timeText(4_200_000), "4.2 ms");
  assert.equal(timeText(691_791_000), "691.8 ms");
  assert.equal(timeText(13_729_400_000), "13.73 s");
});

test("plates round to three digits", () => {
  assert.equal(shortTimeText(121_449_000), "121 ms");
  assert.equal(shortTimeText(999), "999 ns");
  assert.equal(shortTimeText(1_005_000_000), "1.01 s");
});

test("very large and very small numbers have an exponent, as in C", () => {
  assert.equal(general(0.000007629, 4), "7.629e-06");
  assert.equal(general(12345, 4), "1.234e+04");
  assert.equal(general(0.00012, 2), "0.00012");
  assert.equal(general(0, 4), "0");
});

test("a tie goes to the even digit, as in C", () => {
  assert.equal(fixed(0.25, 1), "0.2");
  assert.equal(fixed(0.75, 1), "0.8");
  assert.equal(percent(0.0625), "6.2 %");
  assert.equal(percent(0.295), "29.5 %");
});

test("sizes are in GiB, small ones in MiB", () => {
  assert.equal(gibText(1.5 * 1024 ** 3), "1.50");
  assert.equal(sizeText(302.1 * 1024 ** 2), "302.1 MiB");
  assert.equal(sizeText(80 * 1024 ** 3), "80.00 GiB");
});

test("ticks are round, in sight, and as far apart as asked", () => {
  const ticks = ticksOf(0, 672_047_000, 1200, 99);
  assert.deepEqual(ticks.slice(0, 3).map(({ text }) => text), ["0 ms", "100 ms", "200 ms"]);
  for (const { at } of ticks) assert.ok(at >= 0 && at <= 672_047_000);
  const near = ticksOf(100_000, 100_900, 1200, 99);
  assert.ok(near.length > 3);
  assert.equal(new Set(near.map(({ text }) => text)).size, near.length);
});

test("a template takes an action's numbers, of its second compute from their place on", () => {
  assert.equal(filled("%0F%1", [2, 3]), "2F3");
  assert.equal(filled("(%0F%1;%2B%3)OVERLAP_F_B", [0, 7, 7, 13]), "(0F7;7B13)OVERLAP_F_B");
  assert.equal(filled("opt", []), "opt");
});
