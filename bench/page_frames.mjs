// The processor time of a page's script in milliseconds: node bench/page_frames.mjs PAGE
// Unpacking and reading, the first picture, and frames of a zoom from the whole step to a thousandth of
// it and back. The shapes are discarded, so that the browser's own painting is not measured.
import { readFileSync } from "node:fs";
import { Axis } from "../trace/page/assets/axis.js";
import { unpacked } from "../trace/page/assets/bytes.js";
import { readPage } from "../trace/page/assets/plan.js";
import { foldsAtFirst, layOut } from "../trace/page/assets/rows.js";
import { Timeline } from "../trace/page/assets/timeline.js";

const [width, height, gutter] = [1222, 612, 178];

function cpuOf(work) {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, result];
}

const html = readFileSync(process.argv[2], "utf8");
const before = process.cpuUsage();
const bytes = await unpacked(html.match(/<script type="text\/plain" id="data">([^<]*)<\/script>/)[1]);
const unpacking = process.cpuUsage(before);
const [reading, page] = cpuOf(() => readPage(bytes));

const pen = Object.fromEntries(["area", "areas", "columns", "frame", "hatch", "text", "line", "dot", "steps", "arrow"].map((name) => [name, () => {}]));
pen.clipped = (x, y, w, h, draw) => draw();
const timeline = Object.assign(Object.create(Timeline.prototype), {
  everyLook: page.look, panels: page.plans.map((plan) => ({ plan })), gutter, letter: 11, theme: "light",
  axis: Object.assign(new Axis(Math.max(...page.plans.map(({ length }) => length))), { width }),
  selection: null, measured: null, critical: false, ownScale: false, overDraw: null, map: null, scroller: { scrollTop: 0 },
});
const laid = layOut(page.plans, { folded: page.plans.some(foldsAtFirst), opened: new Set(), available: height - timeline.top, low: 52 });
Object.assign(timeline, laid, { height: Math.min(height, timeline.top + laid.height) });
const [first] = cpuOf(() => timeline.paint(pen));
const frames = [];
for (const factor of [1.12, 1 / 1.12, 1.12, 1 / 1.12])
  for (let i = 0; i < 60; ++i) {
    timeline.axis.zoom(factor, 500);
    frames.push(cpuOf(() => timeline.paint(pen))[0]);
  }
const warm = frames.slice(120).sort((a, b) => a - b);
const actions = page.plans.reduce((sum, { kind }) => sum + kind.length, 0);
console.log(`${actions} actions, ${html.length} bytes: unpack ${Math.round((unpacking.user + unpacking.system) / 1000)}, read ${Math.round(reading)}, ` +
  `first picture ${Math.round(first)}, a frame ${warm[60].toFixed(1)} (median), ${warm[113].toFixed(1)} (95 %), ${warm.at(-1).toFixed(1)} (worst)`);
