// Prints as JSON the shapes of a page's documents on an axis of the width of a picture, and all of its
// tips: node shapes.mjs PAGE WIDTH HEIGHT_OF_ROW [links]
import { readFileSync } from "node:fs";
import { unpacked } from "../../trace/page/assets/bytes.js";
import { tipOfBar, tipOfBubble } from "../../trace/page/assets/causes.js";
import { layOut } from "../../trace/page/assets/rows.js";
import { readPage } from "../../trace/page/assets/plan.js";
import { Timeline } from "../../trace/page/assets/timeline.js";
import { Axis } from "../../trace/page/assets/axis.js";

const [file, width, rowHeight, links] = process.argv.slice(2);
const html = readFileSync(file, "utf8");
const data = html.match(/<script type="text\/plain" id="data">([^<]*)<\/script>/)[1];
const page = readPage(await unpacked(data));
const [plan] = page.plans;
const layout = plan.layouts.find(({ height }) => height === Number(rowHeight));
const kGutter = 164;
const timeline = Object.create(Timeline.prototype);
Object.assign(timeline, {
  everyLook: page.look,
  panels: [{ plan }],
  axis: Object.assign(new Axis(plan.length), { width: Number(width) - kGutter }),
  ownScale: false,
  selection: null, measured: null, critical: false, overDraw: null, theme: "light",
  gutter: kGutter, letter: 10, titles: [], map: null, scroller: { scrollTop: 0 },
});
const laid = layOut([{ ...plan, layouts: [layout] }], { folded: false, opened: new Set(), available: Infinity, low: 0, allLinked: links === "links" });
Object.assign(timeline, { rows: laid.rows.map((row) => ({ ...row, plan })), height: timeline.top + laid.height });
const bars = [...plan.kind.keys()];
const bubbles = [...plan.bubble.begin.keys()];
const kinds = page.look.words.kinds;
console.log(JSON.stringify({
  top: timeline.top,
  shapes: timeline.shapes(),
  tips: [...bars.map((bar) => tipOfBar(plan, bar, kinds)), ...bubbles.map((b) => tipOfBubble(plan, b))],
  legend: plan.legend.light.map(({ words }) => words),
  message_colour: page.look.light.paints[4],
  title: plan.title,
  subtitle: plan.subtitle,
}));
