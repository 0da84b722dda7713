// The far view of a lane: bars narrower than pixels would mix to one colour that none of them has.
// A column shows how much of each kind of work it covers, the kinds above each other.
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
  const left = { piece: 0 };
  const right = { piece: 0 };
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

/// The stretches between wide bubbles, within which columns are averaged.
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

/// A lane's work summed up from its start: of each piece its time, and the work of those before it.
export function workSums(plan, device) {
  if (device.sums) return device.sums;
  const { first, last } = device.work;
  const gaps = device.between;
  const count = last - first + gaps.last - gaps.first;
  const begin = new Float64Array(count);
  const end = new Float64Array(count);
  const before = new Float64Array(kKinds * (count + 1));
  for (let piece = 0, bar = first, gap = gaps.first; piece < count; ++piece) {
    const isBar = gap === gaps.last || (bar < last && plan.begin[bar] <= plan.between.begin[gap]);
    begin[piece] = isBar ? plan.begin[bar] : plan.between.begin[gap];
    end[piece] = isBar ? plan.end[bar] : plan.between.end[gap];
    const length = end[piece] - begin[piece];
    const exposed = isBar ? length * plan.exposedShare(bar) : length;
    const shares = isBar ? plan.classOf(bar).work : null;
    for (let kind = 0; kind < kKinds; ++kind) {
      const work = kind === 0 ? exposed : shares ? (length - exposed) * shares[kind] : 0;
      before[kKinds * (piece + 1) + kind] = before[kKinds * piece + kind] + work;
    }
    if (isBar) ++bar;
    else ++gap;
  }
  return (device.sums = { begin, end, before, all: before.subarray(kKinds * count) });
}

/// The work before an instant, into `out`. `walk` goes to the right, or starts anew.
function workUntil({ begin, end, before }, at, walk, out) {
  if (walk.piece > 0 && end[walk.piece - 1] > at) walk.piece = 0;
  walk.piece = nextAfter(end, walk.piece, end.length, at);
  const piece = walk.piece;
  const inside = piece < end.length && begin[piece] < at;
  const share = inside ? (at - begin[piece]) / (end[piece] - begin[piece]) : 0;
  for (let kind = 0; kind < kKinds; ++kind) {
    const low = before[kKinds * piece + kind];
    out[kind] = inside ? low + share * (before[kKinds * (piece + 1) + kind] - low) : low;
  }
}
