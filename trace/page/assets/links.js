// The use of a rank's links over time, one lane for each class of links: the used share of its limit,
// on average over each column.
import { firstAfter, nextAfter } from "./plan.js";
import { fixed, general, timeText } from "./words.js";

/// Draws a lane of links, whose area reaches the limit where all of it is used.
export function drawLinks(pen, lane, of) {
  const { x, y, width, height, axis, look } = lane;
  const room = height - lane.plan.links.limit;
  const tops = new Float32Array(Math.round(width));
  const walk = { step: 0 };
  const use = useOf(lane.plan, lane.device, of);
  let before = busyUntil(use, axis.begin, walk);
  for (let column = 0; column < tops.length; ++column) {
    const after = busyUntil(use, axis.at(column + 1), walk);
    tops[column] = y + height - room * Math.min((after - before) / axis.nsPerPixel, 1);
    before = after;
  }
  pen.area(x, y, width, height, look.ground.lane);
  pen.steps(x, tops, y + height, look.paints[4], look.ground.edge);
  if (!linkOf({ ...lane, linksOf: of })[3]) return;
  const limit = Math.floor(y + lane.plan.links.limit) - 0.5;
  pen.line(x, limit, x + width, limit, look.ground.warning, 1, [4, 3]);
}

/// Draws the words left of a lane of links.
export function drawLinkWords(pen, row, { y, width, letter, look }) {
  const [name, used] = linkOf(row);
  const line = 1.4 * letter;
  const narrow = width < 10 * letter;
  const x = narrow ? 8 : 8 + 2 * letter;
  pen.text(x, y + 1 + line / 2, narrow ? name.replace(" links", "") : name, letter, look.ground.text);
  pen.text(x, y + 1 + 1.5 * line, narrow ? used.replace(/( of|,) .*/, "") : used, letter, look.ground.faint);
}

/// "node links of rank 3: 61.4 % of 300 GB/s at 1.2 ms".
export function tipOfLinks({ plan, device, linksOf }, at) {
  const [name, used, limit, isKnown] = linkOf({ plan, device, linksOf });
  const use = useOf(plan, device, linksOf);
  const step = firstAfter(use.at, 0, use.at.length, at) - 1;
  const now = step < 0 ? 0 : Math.min(use.level[step], 1);
  const rate = (share) => general((share * limit) / 1e9, 3);
  const there = isKnown ? `${fixed(100 * now, 1)} % of ${rate(1)} GB/s` : `${rate(now)} GB/s`;
  return [`${name} of ${device.name}`, `${there} at ${timeText(Math.round(at))}`, `on average ${used}`].join("\n");
}

function linkOf({ plan, device, linksOf }) {
  return plan.links.lanes[plan.devices.indexOf(device)][linksOf];
}

/// The use of a class of links as steps: the level from each instant on, and the busy time before it.
/// The levels of overlapping stretches add up.
function useOf(plan, device, of) {
  device.linkUse ??= [];
  return (device.linkUse[of] ??= stepsOf(sendsOf(plan, device, of)));
}

function sendsOf(plan, device, of) {
  const stretches = [];
  const limit = linkOf({ plan, device, linksOf: of })[2];
  for (const track of [device.work, ...device.streams])
    for (let bar = track.first; bar < track.last; ++bar)
      for (const [on, begin, end, busy] of plan.links.uses[plan.linkUse[bar]]) {
        const length = plan.lengthOf(bar);
        const ns = length * (end - begin);
        if (on !== of || ns <= 0) continue;
        // A measured action is busy for the time of its bytes at the greatest rate.
        const level = Math.min((busy ?? (1e9 * plan.bytes[plan.size[bar] - 1]) / limit) / ns, 1);
        stretches.push({ at: plan.begin[bar] + length * begin, by: level }, { at: plan.begin[bar] + length * end, by: -level });
      }
  return stretches.sort((a, b) => a.at - b.at);
}

function stepsOf(changes) {
  const at = Float64Array.from(changes, (change) => change.at);
  const level = new Float64Array(changes.length);
  const before = new Float64Array(changes.length);
  let now = 0;
  for (let i = 0; i < changes.length; ++i) {
    before[i] = i > 0 ? before[i - 1] + now * (at[i] - at[i - 1]) : 0;
    level[i] = now += changes[i].by;
  }
  return { at, level, before };
}

/// The nanoseconds at the limit until an instant. `walk` goes to the right.
function busyUntil({ at, level, before }, time, walk) {
  walk.step = nextAfter(at, walk.step, at.length, time);
  const last = walk.step - 1;
  return last < 0 ? 0 : before[last] + level[last] * (time - at[last]);
}
