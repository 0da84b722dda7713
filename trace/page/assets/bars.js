// The lane of bars: computes with their exposed communication, labels and operators.
import { barsIn } from "./plan.js";
import { filled } from "./words.js";
import { drawBubbles } from "./bubbles.js";
import { drawStacked, isFar } from "./far.js";

const kLeastParted = 4;
const kGap = 1;
const kLeastExposed = 0.3;
export const kLabelShare = 0.62;
const kLeastPass = 150;
const kLeastTall = 20;
const kLeastOperator = 3;
const kNarrowest = 0.5;  // width of the narrowest letter, in digits

/// A lane is a plan's device in a band of the canvas: { plan, device, x, y, width, height, axis, look,
/// theme, labels, faded }. `look` is that of the theme.
export function drawWork(pen, lane) {
  const { plan, device, look, x, y, width, height } = lane;
  pen.area(x, y, width, height, look.ground.lane);
  const [left, right] = inSight(lane, 0, plan.length);
  if (right > left) pen.area(left, y, right - left, height, look.paints[7]);
  if (isFar(lane)) return drawStacked(pen, lane);
  drawBubbles(pen, lane);
  const [first, last] = barsIn(plan, device.work, lane.axis.begin, lane.axis.end);
  drawBars(pen, lane, first, last);
  if (plan.classes.some(({ hatched }) => hatched)) for (let i = first; i < last; ++i) drawHatched(pen, lane, i);
  const wide = new Set();
  const least = kLeastPass * lane.axis.nsPerPixel;
  for (let i = first; i < last; ++i) if (plan.end[i] - plan.begin[i] >= least && drawOperators(pen, lane, i)) wide.add(i);
  if (lane.labels.form >= 0) for (let i = first; i < last; ++i) drawLabels(pen, lane, i, wide.has(i));
}

/// The visible pixels of a range of time.
export function inSight(lane, begin, end) {
  const left = Math.max(lane.axis.x(begin), 0);
  const right = Math.min(lane.axis.x(end), lane.width);
  return [lane.x + left, lane.x + Math.max(right, left)];
}

/// The halves of a band, one for each compute of an Overlap.
export function halves({ y, height }) {
  const upper = Math.floor(height / 2);
  return [{ y, height: upper }, { y: y + upper, height: height - upper }];
}

/// The colour of a bar, or of an Overlap's second compute, in a theme.
export function colourOf(lane, bar, second = false) {
  const kind = lane.plan.classOf(bar);
  const colours = second ? kind.colours2 : kind.colours;
  const faded = lane.meant !== null && !lane.meant.has(bar);
  return colours[(lane.theme === "dark" ? 1 : 0) + (faded ? 2 : 0)];
}

/// Draws bars and the exposed communication in and between them, colour by colour, since a frame has
/// thousands of them.
function drawBars(pen, lane, first, last) {
  const { plan, axis, x, y, height, meant } = lane;
  const exposed = lane.look.paints[5];
  const shares = plan.exposedShares;
  const areas = new Map();
  const whole = plan.classes.map(() => undefined);
  const listOf = (fill) => areas.get(fill) ?? areas.set(fill, []).get(fill);
  const parts = [];
  const scale = 1 / axis.nsPerPixel;
  const add = (list, begin, end, top, high) => {
    const left = Math.max((begin - axis.begin) * scale, 0);
    const wide = Math.max(Math.min((end - axis.begin) * scale, lane.width) - left, 0);
    list.push(x + left, top, wide >= kLeastParted ? wide - kGap : wide, high);
  };
  const addExposed = (bar, top, high) => {
    const part = high * shares[bar];
    if (part >= kLeastExposed) add(parts, plan.begin[bar], plan.end[bar], top + high - part, part);
  };
  for (let bar = first; bar < last; ++bar) {
    const kind = plan.kind[bar];
    if (plan.classes[kind].colours2 !== undefined) {
      halves(lane).forEach((band, half) => {
        add(listOf(colourOf(lane, bar, half === 1)), plan.begin[bar], plan.end[bar], band.y, band.height);
        if (meant === null) addExposed(bar, band.y, band.height);
      });
      continue;
    }
    const list = meant === null ? (whole[kind] ??= listOf(colourOf(lane, bar))) : listOf(colourOf(lane, bar));
    add(list, plan.begin[bar], plan.end[bar], y, height);
    if (meant === null) addExposed(bar, y, height);
  }
  for (const [fill, list] of areas) pen.areas(list, fill);
  if (meant !== null) return;
  const { begin, end } = plan.between;
  const [from, to] = barsIn(plan.between, lane.device.between, axis.begin, axis.end);
  for (let i = from; i < to; ++i) add(parts, begin[i], end[i], y, height);
  pen.areas(parts, exposed);
}

function drawHatched(pen, lane, bar) {
  if (!lane.plan.classOf(bar).hatched) return;
  const [left, right] = inSight(lane, lane.plan.begin[bar], lane.plan.end[bar]);
  const [ink, thickness] = lane.look.recompute;
  if (right - left >= kLeastParted) pen.hatch(left, lane.y, right - left - kGap, lane.height, ink, thickness);
}

function drawLabels(pen, lane, bar, overOperators) {
  const kind = lane.plan.classOf(bar);
  const [left, right] = inSight(lane, lane.plan.begin[bar], lane.plan.end[bar]);
  const whole = overOperators ? lane.height - Math.floor((lane.height * 2) / 5) : lane.height;
  const share = lane.meant === null ? lane.plan.exposedShare(bar) : 0;
  const label = (labels, second, band) => {
    const exposed = band.height * share;
    let [y, height, under] = [band.y, band.height - exposed, colourOf(lane, bar, second)];
    if (share > 0.5) [y, height, under] = [y + height, exposed, lane.look.paints[5]];
    const { size, digit } = lane.labels;
    if (kNarrowest * digit * size + 2 * kGap > right - left) return;
    const words = filled(labels[lane.labels.form], lane.plan.numbersOf(bar));
    if (words === "" || digitsWide(words) * digit * size + 2 * kGap > right - left) return;
    pen.text((left + right) / 2, y + height / 2, words, size, inkOn(under), "middle");
  };
  if (lane.labels.size > lane.height) return;
  if (!kind.labels2 || Math.floor(lane.height / 2) < lane.labels.size)
    return label(kind.labels, false, { y: lane.y, height: whole });
  const [upper, lower] = halves(lane);
  label(kind.labels, false, upper);
  label(kind.labels2, true, lower);
}

/// The operators of a wide bar in a second row; hidden communication as thin lines at its foot.
function drawOperators(pen, lane, bar) {
  const parts = lane.plan.operators[lane.plan.operatorList[bar] - 1];
  const left = lane.x + lane.axis.x(lane.plan.begin[bar]);
  const width = lane.x + lane.axis.x(lane.plan.end[bar]) - left - kGap;
  if (!parts || lane.height < kLeastTall || width + kGap < kLeastPass) return false;
  const height = Math.floor((lane.height * 2) / 5);
  const y = lane.y + lane.height - height;
  const place = (begin, end) => {
    const from = Math.max(left + begin * width, lane.x);
    return [from, Math.max(Math.min(left + end * width, lane.x + lane.width) - from, 0)];
  };
  const fill = colourOf(lane, bar);
  const [wholeX, wholeWidth] = place(0, 1);
  pen.area(wholeX, y, wholeWidth, height, fill);
  pen.area(wholeX, y, wholeWidth, 1, lane.look.ground.window);
  let pale = false;
  for (const [name, communicates, begin, end] of parts) {
    pale = !pale && !communicates;
    const [x, wide] = place(begin, end);
    if (wide <= 0) continue;
    const colour = communicates ? lane.look.paints[5] : pale ? mixed(fill, lane.look.ground.window, 0.3) : fill;
    const shown = wide >= kLeastOperator ? wide - kGap : wide;
    pen.area(x, y + 1, shown, height - 1, colour);
    wordsIn(pen, lane, [name, name.slice(name.lastIndexOf(".") + 1)], colour, x, y + 1, shown, height - 1);
  }
  for (const [, , , end, hidden] of parts) {
    const [x, wide] = place(end, Math.min(end + hidden, 1));
    if (hidden > 0 && wide > 0) pen.area(x, y + height - 2, wide, 2, lane.look.paints[5]);
  }
  return true;
}

function wordsIn(pen, lane, words, under, x, y, width, height) {
  const size = Math.min(lane.letter, Math.floor(height * 0.75));
  if (size < lane.font.smallest) return;
  const one = words.find((word) => digitsWide(word) * lane.font.digit * size + 2 <= width);
  if (one) pen.text(x + width / 2, y + height / 2, one, size, inkOn(under), "middle");
}

/// The width of a label in widths of a digit.
export function digitsWide(words) {
  let digits = 0;
  for (const letter of words) digits += letter === "W" ? 1.55 : letter === "I" || letter === "." ? 0.5 : 1.05;
  return digits;
}

/// The longest form of label (0: letter, 1: number too, 2: stage too; -1: none) that fits into three
/// of four visible bars, and its size.
export function labelStyle(lanes, font, height) {
  const longest = [1, 0];
  const near = lanes.filter((lane) => meanWidth(lane) >= font.digit * font.smallest);
  const ranges = near.map(({ plan, device, axis }) => barsIn(plan, device.work, axis.begin, axis.end));
  const widths = new Float64Array(ranges.reduce((sum, [first, last]) => sum + last - first, 0));
  if (widths.length === 0) return { form: -1, size: 0 };
  let at = 0;
  near.forEach((lane, n) => {
    const [first, last] = ranges[n];
    for (let i = first; i < last; ++i) widths[at++] = lane.plan.lengthOf(i) / lane.axis.nsPerPixel;
    noteNumbers(longest, lane);
  });
  widths.sort();
  const room = widths[Math.floor(0.25 * (widths.length - 1))];
  const largest = Math.min(font.largest, Math.floor(height * kLabelShare));
  for (const form of [2, 1, 0]) {
    if (form === 2 && longest[1] === 0) continue;
    const smallest = form === 2 ? Math.min(largest, Math.max(font.smallest, 9)) : font.smallest;
    const digits = 1.55 + (form >= 1 ? longest[0] : 0) + (form === 2 ? longest[1] : 0);
    for (let size = largest; size >= smallest; --size)
      if (digits * font.digit * size + 3 <= room) return { form, size, digit: font.digit };
  }
  return { form: -1, size: 0 };
}

/// The digits of the longest microbatch, and of the greatest stage if a rank has several.
function noteNumbers(longest, { plan, device }) {
  device.longestNumbers ??= numbersOf(plan, device);
  for (const i of [0, 1]) longest[i] = Math.max(longest[i], device.longestNumbers[i]);
}

function numbersOf(plan, device) {
  const { first, last } = device.work;
  const longest = [1, device.stages.length > 1 ? String(device.stages.at(-1)).length : 0];
  const count = Math.min(last - first, 8);
  for (let i = 0; i < count; ++i)
    for (const bar of [first + i, last - 1 - i])
      if (plan.classOf(bar).role === "work" && !plan.classOf(bar).hatched)
        longest[0] = Math.max(longest[0], filled(plan.classOf(bar).labels[1], plan.numbersOf(bar)).length - 1);
  return longest;
}

/// The mean width in pixels of a lane's visible bars and of the exposed communication between them.
export function meanWidth({ plan, device, axis }) {
  const [first, last] = barsIn(plan, device.work, axis.begin, axis.end);
  if (last === first) return 0;
  const covered = Math.min(plan.end[last - 1], axis.end) - Math.max(plan.begin[first], axis.begin);
  return covered / axis.nsPerPixel / (last - first);
}

const mixes = new Map();

/// A colour between two others.
export function mixed(a, b, share) {
  const key = `${a}${b}${share}`;
  if (!mixes.has(key)) {
    const channel = (i) => {
      const [from, to] = [a, b].map((hex) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16));
      return Math.round(from + (to - from) * share).toString(16).padStart(2, "0");
    };
    mixes.set(key, `#${channel(0)}${channel(1)}${channel(2)}`.toUpperCase());
  }
  return mixes.get(key);
}

const inks = new Map();

/// Black or white, whichever has the greater contrast with a colour (WCAG 2).
export function inkOn(colour) {
  if (!inks.has(colour)) {
    const linear = (i) => {
      const v = parseInt(colour.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    };
    const light = 0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2) + 0.05;
    inks.set(colour, 1.05 / light > light / 0.05 ? "#FFFFFF" : "#000000");
  }
  return inks.get(colour);
}
