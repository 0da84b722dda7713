import assert from "node:assert/strict";
import { test } from "node:test";
import { Axis } from "../../trace/page/assets/axis.js";

function axis() {
  return Object.assign(new Axis(1_000_000), { width: 1000 });
}

test("the time at the pointer stays there while a person zooms", () => {
  const one = axis();
  const at = one.at(300);
  one.zoom(7, 300);
  assert.ok(Math.abs(one.x(at) - 300) < 1e-6);
  one.zoom(1.5, 300);
  assert.ok(Math.abs(one.x(at) - 300) < 1e-6);
});

test("what is in sight lies within the whole, and a nanosecond is never wider than a pixel", () => {
  const one = axis();
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let i = 0; i < 500; ++i) {
    if (random() < 0.5) one.zoom(0.2 + 3 * random(), 1000 * random());
    else one.pan(2000 * (random() - 0.5));
    assert.ok(one.begin >= 0 && one.end <= 1_000_000 && one.end > one.begin);
    assert.ok(one.nsPerPixel >= 1 - 1e-9);
  }
  one.fit();
  assert.ok(one.showsAll);
});

test("a stretch is brought into sight and no further", () => {
  const one = axis();
  one.show(0, 100_000);
  one.reveal(20_000, 30_000);
  assert.deepEqual([one.begin, one.end], [0, 100_000]);
  one.reveal(500_000, 510_000);
  assert.ok(one.begin <= 500_000 && one.end >= 510_000);
  assert.equal(one.end - one.begin, 100_000);
});
