// The far view of a lane. Bars narrower than pixels would mix to a colour of no kind of work, so each
// column shows the shares of the kinds of work, stacked.
import { meanWidth } from "./bars.js";
import { drawBubbles, wideBubbles } from "./bubbles.js";
import { nextAfter } from "./plan.js";

const kFarBar = 3;
const kLeastGap = 5;
const kBarsAveraged = 10;
const kLeastHatchedFar = 5;
const kKinds = 5;
/// The paint of each kind, from the bottom up: exposed, weight, backward, forward, optimizer.
const kPaintOfKind = [5, 3, 2, 0, 6];

export function isFar(lane) {
  const mean = meanWidth(lane);
  return mean > 0 && mean < kFarBar;
}

export function drawStacked(pen, lane) {
  const sums = workSums(lane.plan, lane.device);
  const stretches = stretchesOf(lane);
  const half = (meanWidth(lane) * lane.axis.nsPerPixel * kBarsAveraged) / 2;
  const columns = Math.round(lane.width);
  const tops = Array.from({ length: kKinds }, () => new Float32Array(columns));
  const before = new Float64Array(kKinds);
  const after = new Float64Array(kKinds);
  const left = { interval: 0 };
  const right = { interval: 0 };
  let stretch = 0;
  for (let x = 0; x < columns; ++x) {
    let begin = lane.axis.at(x);
    let end = lane.axis.at(x + 1);
    while (stretch < stretches.length && stretches[stretch][1] <= begin) ++stretch;
    if (stretch < stretches.length && stretches[stretch][0] < end) {
      begin = Math.max(stretches[stretch][0], begin - half);
      end = Math.min(stretches[stretch][1], end + half);
    }
    workUntil(sums, begin, left, before);
    workUntil(sums, end, right, after);
    let y = lane.y + lane.height;
    for (let kind = 0; kind < kKinds; ++kind) {
      y -= (lane.height * (after[kind] - before[kind])) / Math.max(end - begin, 1);
      tops[kind][x] = Math.max(Math.round(4 * y) / 4, lane.y);
    }
  }
  for (let kind = kKinds - 1; kind >= 0; --kind)
    if (sums.all[kind] > 0)
      pen.steps(lane.x, tops[kind], lane.y + lane.height, lane.look.paints[kPaintOfKind[kind]]);
  drawBubbles(pen, lane, kLeastHatchedFar);
}

/// The ranges between wide bubbles, within which columns are averaged.
function stretchesOf(lane) {
  const { begin, end } = lane.plan.bubble;
  const gaps = wideBubbles(lane, kLeastGap).sort((a, b) => begin[a] - begin[b]);
  const stretches = [];
  let from = 0;
  for (const b of gaps) {
    if (begin[b] > from) stretches.push([from, begin[b]]);
    from = Math.max(from, end[b]);
  }
  if (lane.plan.length > from) stretches.push([from, lane.plan.length]);
  return stretches;
}

/// The prefix sums of a lane's work: the range of each interval, and the work before it.
export function workSums(plan, device) {
  if (device.sums) return device.sums;
  const { first, last } = device.work;
  const gaps = device.between;
  const count = last - first + gaps.last - gaps.first;
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  const before = new Float64Array(kKinds * (count + 1));
  for (let interval = 0, bar = first, gap = gaps.first; interval < count; ++interval) {
    const isBar = gap === gaps.last || (bar < last && plan.begin[bar] <= plan.between.begin[gap]);
    begin[interval] = isBar ? plan.begin[bar] : plan.between.begin[gap];
    end[interval] = isBar ? plan.end[bar] : plan.between.end[gap];
    const length = end[interval] - begin[interval];
    const exposed = isBar ? length * plan.exposedShare(bar) : length;
    const shares = isBar ? plan.classOf(bar).work : null;
    for (let kind = 0; kind < kKinds; ++kind) {
      const work = kind === 0 ? exposed : shares ? (length - exposed) * shares[kind] : 0;
      before[kKinds * (interval + 1) + kind] = before[kKinds * interval + kind] + work;
    }
    if (isBar) ++bar;
    else ++gap;
  }
  return (device.sums = { begin, end, before, all: before.subarray(kKinds * count) });
}

/// Writes the work before an instant into `out`. `walk` goes to the right, or starts again.
function workUntil({ begin, end, before }, at, walk, out) {
  if (walk.interval > 0 && end[walk.interval - 1] > at) walk.interval = 0;
  walk.interval = nextAfter(end, walk.interval, end.length, at);
  const interval = walk.interval;
  const inside = interval < end.length && begin[interval] < at;
  const share = inside ? (at - begin[interval]) / (end[interval] - begin[interval]) : 0;
  for (let kind = 0; kind < kKinds; ++kind) {
    const low = before[kKinds * interval + kind];
    out[kind] = inside ? low + share * (before[kKinds * (interval + 1) + kind] - low) : low;
  }
}
