// The strip below the bars: messages and collectives, which several streams share.
import { barsIn, nextAfter } from "./plan.js";

const kAlike = 4;  // of 255

export function drawStreams(pen, lane) {
  const tracks = lane.device.streams.filter(({ name, first, last }) => !name.startsWith("compute") && last > first);
  const inSight = tracks.map((track) => barsIn(lane.plan, track, lane.axis.begin, lane.axis.end));
  pen.area(lane.x, lane.y, lane.width, lane.height, lane.look.ground.lane);
  if (inSight.some(([first, last]) => last - first > lane.width)) return drawBlended(pen, lane, tracks);
  for (const [first, last] of inSight) for (let i = first; i < last; ++i) drawMessage(pen, lane, i);
}

function colourOfStream(lane, bar) {
  return lane.plan.classOf(bar).colours[lane.theme === "dark" ? 1 : 0];
}

function drawMessage(pen, lane, bar) {
  const [left, right] = [lane.axis.x(lane.plan.begin[bar]), lane.axis.x(lane.plan.end[bar])];
  const from = Math.max(left, 0);
  const to = Math.min(right - left >= 4 ? right - 1 : right, lane.width);
  pen.area(lane.x + from, lane.y, to - from, lane.height, colourOfStream(lane, bar));
}

/// Where there are more messages than pixels, each column has the mean colour of what it covers. All
/// bars of a stream have one colour. Neighbours that hardly differ are drawn as one.
function drawBlended(pen, lane, tracks) {
  const ground = channelsOf(lane.look.ground.lane);
  const walks = tracks.map((track) => ({ track, colour: channelsOf(colourOfStream(lane, track.first)),
    bar: track.first, before: 0 }));
  for (const walk of walks) walk.before = coveredUntil(lane.plan, walk, lane.axis.begin);
  const columns = Math.round(lane.width);
  let run = { x: 0, colour: ground };
  const end = (x) => x > run.x && pen.area(lane.x + run.x, lane.y, x - run.x, lane.height, hexOf(run.colour));
  for (let x = 0; x < columns; ++x) {
    const sums = [0, 0, 0];
    let covered = 0;
    for (const walk of walks) {
      const after = coveredUntil(lane.plan, walk, lane.axis.at(x + 1));
      const share = (after - walk.before) / lane.axis.nsPerPixel;
      walk.before = after;
      covered += share;
      for (let c = 0; c < 3; ++c) sums[c] += share * walk.colour[c];
    }
    // Several streams may cover more than a column.
    const bare = Math.max(1 - covered, 0);
    const colour = sums.map((sum, c) => (sum + bare * ground[c]) / (covered + bare));
    if (colour.every((channel, c) => Math.abs(channel - run.colour[c]) < kAlike)) continue;
    end(x);
    run = { x, colour };
  }
  end(columns);
}

function channelsOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function hexOf(channels) {
  return `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`.toUpperCase();
}

/// The time that the bars of a track cover from its start until an instant; a walk goes to the right.
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
