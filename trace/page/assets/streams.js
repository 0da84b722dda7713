// The strip below the bars: messages and collectives, which several streams share.
import { barsIn, nextAfter } from "./plan.js";

const kPixelsOfMessage = 4;  // mean width below which messages are blended

export function drawStreams(pen, lane) {
  const tracks = lane.device.streams.filter(({ name, first, last }) => !name.startsWith("compute") && last > first);
  const inSight = tracks.map((track) => barsIn(lane.plan, track, lane.axis.begin, lane.axis.end));
  const count = inSight.reduce((sum, [first, last]) => sum + last - first, 0);
  if (count * kPixelsOfMessage > Math.round(lane.width)) return drawBlended(pen, lane, tracks);
  pen.area(lane.x, lane.y, lane.width, lane.height, lane.look.ground.lane);
  for (const [first, last] of inSight) drawStrip(pen, lane, first, last);
}

function colourOfStream(lane, bar) {
  return lane.plan.classOf(bar).colours[lane.theme === "dark" ? 1 : 0];
}

function drawStrip(pen, lane, first, last) {
  const { plan, axis, x, y, width, height } = lane;
  const areas = new Map();
  for (let bar = first; bar < last; ++bar) {
    const [left, right] = [axis.x(plan.begin[bar]), axis.x(plan.end[bar])];
    const from = Math.max(left, 0);
    const to = Math.min(right - left >= 4 ? right - 1 : right, width);
    const fill = colourOfStream(lane, bar);
    (areas.get(fill) ?? areas.set(fill, []).get(fill)).push(x + from, y, to - from, height);
  }
  for (const [fill, places] of areas) pen.areas(places, fill);
}

/// Blends messages that are too many to be drawn singly: each column has the mean colour of its area.
/// All bars of a stream have one colour.
function drawBlended(pen, lane, tracks) {
  const ground = channelsOf(lane.look.ground.lane);
  const walks = tracks.map((track) => ({ track, colour: channelsOf(colourOfStream(lane, track.first)),
    bar: track.first, before: 0 }));
  for (const walk of walks) walk.before = coveredUntil(lane.plan, walk, lane.axis.begin);
  const columns = new Uint32Array(Math.round(lane.width));
  for (let x = 0; x < columns.length; ++x) {
    let [red, green, blue, covered] = [0, 0, 0, 0];
    const end = lane.axis.at(x + 1);
    for (const walk of walks) {
      const after = coveredUntil(lane.plan, walk, end);
      const share = (after - walk.before) / lane.axis.nsPerPixel;
      walk.before = after;
      covered += share;
      red += share * walk.colour[0];
      green += share * walk.colour[1];
      blue += share * walk.colour[2];
    }
    // Several streams may cover more than a column.
    const bare = Math.max(1 - covered, 0);
    const mean = (sum, c) => Math.round((sum + bare * ground[c]) / (covered + bare));
    columns[x] = (mean(red, 0) << 16) | (mean(green, 1) << 8) | mean(blue, 2);
  }
  pen.columns(lane.x, lane.y, lane.height, columns);
}

function channelsOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/// The time covered by the bars of a track until an instant. `walk` goes to the right.
function coveredUntil(plan, walk, at) {
  const { track } = walk;
  if (!track.covered) {
    track.covered = new Float64Array(track.last - track.first + 1);
    for (let i = track.first; i < track.last; ++i)
      track.covered[i - track.first + 1] = track.covered[i - track.first] + plan.lengthOf(i);
  }
  const bar = (walk.bar = nextAfter(plan.end, walk.bar, track.last, at));
  const inside = bar < track.last ? Math.max(at - plan.begin[bar], 0) : 0;
  return track.covered[bar - track.first] + inside;
}
