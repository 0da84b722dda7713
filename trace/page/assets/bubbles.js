// Bubbles: idle time with its cause and length.
import { barsIn } from "./plan.js";
import { inSight, kLabelShare } from "./bars.js";
import { shortTimeText } from "./words.js";

const kLeastBubble = 0.5;
const kLeastLined = 5;
const kBesideWords = 3;
const kLineGap = 1;

export function drawBubbles(pen, lane, least = kLeastBubble) {
  const { begin, end, cause } = lane.plan.bubble;
  for (const b of wideBubbles(lane, least)) {
    const [left, right] = inSight(lane, begin[b], end[b]);
    const [ground, line, words] = lane.look.causes[cause[b]];
    pen.area(left, lane.y, right - left, lane.height, ground);
    if (right - left < kLeastLined) continue;
    pen.hatch(left, lane.y, right - left, lane.height, line);
    drawWords(pen, lane, b, left, right, ground, words);
  }
}

/// The visible bubbles that are at least `least` pixels wide.
export function wideBubbles(lane, least) {
  const { plan, device, axis } = lane;
  const { begin, end } = plan.bubble;
  const [first, last] = barsIn(plan.bubble, device.bubbles, axis.begin, axis.end);
  const wide = [];
  if (last - first < 4 * axis.width) {
    for (let b = first; b < last; ++b) if (end[b] - begin[b] >= least * axis.nsPerPixel) wide.push(b);
    return wide;
  }
  // With far more bubbles than pixels, few of them can be wide. The longest come first.
  for (const b of longestFirst(plan, device)) {
    if (end[b] - begin[b] < least * axis.nsPerPixel) break;
    if (b >= first && b < last) wide.push(b);
  }
  return wide;
}

function longestFirst({ bubble: { begin, end } }, device) {
  if (!device.longestBubbles) {
    const all = Uint32Array.from({ length: device.bubbles.last - device.bubbles.first }, (_, i) => device.bubbles.first + i);
    device.longestBubbles = all.sort((a, b) => end[b] - begin[b] - (end[a] - begin[a]));
  }
  return device.longestBubbles;
}

/// The cause and the length on a plate in the middle of a bubble's visible part, as far as they fit.
function drawWords(pen, lane, b, left, right, ground, ink) {
  const size = Math.min(lane.letter, Math.floor(lane.height * kLabelShare));
  if (size < lane.font.smallest) return;
  const letter = lane.font.digit * size;
  const line = size + 2 * kLineGap;
  const room = (right - left - 2 * (kBesideWords + kLineGap)) / letter;
  const lines = bubbleLabel(lane, b, room, Math.floor(lane.height / line));
  if (lines.length === 0) return;
  const width = Math.max(...lines.map((words) => words.length)) * letter + 2 * kBesideWords;
  const height = lines.length * line;
  const [middleX, middleY] = [(left + right) / 2, lane.y + lane.height / 2];
  pen.area(middleX - width / 2, middleY - height / 2, width, height, ground);
  lines.forEach((words, i) =>
    pen.text(middleX, middleY - height / 2 + line * (i + 0.5), words, size, ink, "middle"));
}

/// The lines of the first of these labels that fits: "waits for a stage, 4.2 ms", "stage 4.2 ms",
/// the same in two lines, "4.2 ms".
function bubbleLabel(lane, b, letters, lines) {
  if (letters < 4 || lines < 1) return [];
  const time = shortTimeText(lane.plan.bubble.end[b] - lane.plan.bubble.begin[b]);
  const [name, words] = lane.words.causes[lane.plan.bubble.cause[b]];
  const fits = (text) => bytesOf(text) <= letters;
  if (words !== name && fits(`${words}, ${time}`)) return [`${words}, ${time}`];
  if (fits(`${name} ${time}`)) return [`${name} ${time}`];
  if (lines > 1 && fits(name) && fits(time)) return [name, time];
  return fits(time) ? [time] : [];
}

/// A micro sign counts twice, as in other pictures, which count bytes.
function bytesOf(text) {
  return text.length + (text.includes("\u00b5") ? 1 : 0);
}
