// The canvas: rows of all documents on one axis, below a map of the whole step and a ruler.
import { Axis } from "./axis.js";
import { drawWork, labelStyle } from "./bars.js";
import { drawLinks, drawLinkWords } from "./links.js";
import { drawMemory, greatestHeld, memoryY } from "./memory.js";
import { drawOverlays } from "./overlays.js";
import { CanvasPen, RecordingPen } from "./pen.js";
import { runningAt } from "./plan.js";
import { barsOf, deviceAt, drawGutter, foldsAtFirst, isOwn, layOut } from "./rows.js";
import { drawStreams } from "./streams.js";
import { ticksOf } from "./words.js";

const kMap = 18;
const kRuler = 18;
const kNarrow = 640;
const kBoldLetter = 0.66;  // width of a bold letter, of the size of its font

export class Timeline {
  constructor({ look, plans }, canvas, scroller) {
    this.everyLook = look;
    this.panels = plans.map((plan) => ({ plan }));
    this.canvas = canvas;
    this.scroller = scroller;
    this.context = canvas.getContext("2d", { alpha: false });
    this.axis = new Axis(Math.max(...plans.map(({ length }) => length)));
    this.ownScale = false;
    Object.assign(this, { selection: null, measured: null, critical: false, cursor: null, overDraw: null });
    this.folded = plans.some(foldsAtFirst);
    this.opened = new Set();
    this.linked = new Set();  // devices whose links have lanes
    this.allLinked = false;
    this.theme = "light";
    this.asked = false;
    this.frameTimes = [];
  }

  get plans() { return this.panels.map(({ plan }) => plan); }
  get look() { return this.everyLook[this.theme]; }
  get words() { return this.everyLook.words; }
  get top() { return kMap + kRuler; }
  get width() { return this.gutter + this.axis.width; }
  /// The scale of all memory lanes: up to the limit, or up to the greatest held memory.
  get memoryScale() {
    const limits = this.plans.map((plan) => plan.memory_limit).filter((limit) => limit !== null);
    if (!this.ownScale) return { top: Math.max(...this.plans.map((plan) => plan.memory_top)), limit: limits[0] ?? null };
    return { top: Math.max(...this.plans.map(greatestHeld)), limit: null };
  }
  xOf(at) { return this.gutter + this.axis.x(at); }
  yOf(row) { return this.top + row.y - this.scroller.scrollTop; }
  timeAt(x) { return this.axis.at(x - this.gutter); }

  /// Adopts the sizes of the page and lays out the rows.
  resize() {
    const width = this.scroller.clientWidth;
    const narrow = width < kNarrow;
    this.letter = narrow ? 10 : 11;
    this.gutter = narrow ? 78 : 178;
    this.axis.width = Math.max(width - this.gutter, 50);
    this.axis.show(this.axis.begin, this.axis.end);
    const several = this.plans.length > 1;
    const room = Math.round(window.innerHeight * (several ? 0.84 : narrow ? 0.62 : 0.68));
    const { folded, opened, linked, allLinked } = this;
    const laid = layOut(this.plans, { folded, opened, linked, allLinked, available: room - this.top, low: several ? 36 : narrow ? 44 : 52 });
    Object.assign(this, laid, { rowsHeight: laid.height });
    this.height = Math.min(room, this.top + this.rowsHeight);
    this.scroller.style.height = `${this.height}px`;
    this.scroller.firstElementChild.style.height = `${this.top + this.rowsHeight}px`;
    this.scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * this.scale);
    this.canvas.height = Math.round(this.height * this.scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.map = null;
    this.pen = new CanvasPen(this.context, this.scale, this.everyLook.hatch_period);
    this.draw();
  }

  /// Draws at the next frame.
  changed() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  draw() {
    const started = performance.now();
    this.context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.paint(this.pen);
    this.onDraw?.();
    this.frameTimes.push(performance.now() - started);
    if (this.frameTimes.length > 240) this.frameTimes.shift();
  }

  /// The shapes that are on the screen.
  shapes() {
    const pen = new RecordingPen();
    this.paint(pen);
    return pen.shapes;
  }

  paint(pen) {
    const { ground } = this.look;
    pen.area(0, 0, this.width, this.height, ground.window);
    pen.area(0, 0, this.gutter, this.height, ground.gutter);
    const shown = this.rows.filter((row) => this.yOf(row) < this.height && this.yOf(row) + row.height > this.top);
    const labels = this.labelsOf(shown);
    pen.clipped(this.gutter, this.top, this.axis.width, this.height - this.top, () => {
      for (const row of shown) this.paintRow(pen, row, labels);
      drawOverlays(pen, this);
      this.overDraw?.(pen, this, shown);
    });
    pen.clipped(0, this.top, this.width, this.height - this.top, () => this.paintWords(pen, shown));
    this.paintMap(pen);
    this.paintRuler(pen);
    pen.line(this.gutter - 0.5, 0, this.gutter - 0.5, this.height, ground.grid);
  }

  lane(row, band) {
    const { plan, device } = row;
    return { plan, device, x: this.gutter, y: this.yOf(row) + band[0], width: this.axis.width, height: band[1],
      axis: this.axis, look: this.look, words: this.words, theme: this.theme, letter: this.letter,
      font: this.everyLook.font, meant: this.meantOf(plan), labels: { form: -1, size: 0 } };
  }

  /// The highlighted bars, if all others are faded; else null.
  meantOf(plan) {
    if (!this.critical) return null;
    return (plan.onPath ??= new Set(plan.criticalPath));
  }

  labelsOf(shown) {
    const own = shown.filter(isOwn);
    return labelStyle(own.map((row) => this.lane(row, row.bars)), this.everyLook.font, Math.min(...own.map((row) => row.bars[1])));
  }

  paintRow(pen, row, labels) {
    if (row.linksOf !== undefined) return drawLinks(pen, this.lane(row, row.use), row.linksOf);
    if (row.sampled)
      return row.sampled.forEach((device, i) => drawWork(pen, { ...this.lane(row, [2 * i, 2]), device }));
    drawWork(pen, { ...this.lane(row, row.bars), labels });
    if (row.links[1] > 0) drawStreams(pen, this.lane(row, row.links));
    if (row.memory[1] > 0) this.paintMemory(pen, row);
  }

  paintMemory(pen, row) {
    const lane = this.lane(row, row.memory);
    const scale = this.memoryScale;
    drawMemory(pen, lane, scale, row.heat);
    if (row.heat || row.device.memorySteps.first === row.device.memorySteps.last) return;
    if (lane.height >= 3.2 * this.letter) {
      const words = `${Number((scale.top / 1024 ** 3).toPrecision(4))} GiB`;
      const size = 0.9 * this.letter;
      pen.text(lane.x + 3, lane.y + size / 2 + 2, words, size, this.look.ground.faint);
    }
    const { ground } = this.look;
    if (scale.limit !== null) {
      const y = Math.floor(memoryY(lane, scale, scale.limit)) + 0.5;
      pen.line(lane.x, y, lane.x + lane.width, y, ground.warning, 1, [4, 3]);
    }
    const { peak } = row.device;
    if (!peak) return;
    const held = peak.held.reduce((sum, bytes) => sum + bytes, 0);
    pen.dot(this.xOf(peak.at), memoryY(lane, scale, held), 3.5,
      scale.limit !== null && held > scale.limit ? ground.warning : ground.text, ground.window);
  }

  paintWords(pen, shown) {
    pen.area(0, this.top, this.gutter - 1, this.height - this.top, this.look.ground.gutter);
    for (const row of shown) {
      const place = { y: this.yOf(row), width: this.gutter, letter: this.letter, look: this.look, theme: this.theme };
      if (row.linksOf === undefined) drawGutter(pen, row, place);
      else drawLinkWords(pen, row, place);
    }
    for (const { plan, y, height } of this.titles) {
      const at = this.top + y - this.scroller.scrollTop;
      if (at > this.height || at + height < this.top) continue;
      pen.area(0, at, this.width, height, this.look.ground.gutter);
      pen.text(8, at + height / 2, titleIn(plan.title, this.width - 16, 1.15 * this.letter), 1.15 * this.letter, this.look.ground.text, "start", true);
    }
  }

  /// The utilisation of the cluster, doubling as a map of the view.
  paintMap(pen) {
    const { ground } = this.look;
    const width = Math.round(this.axis.width);
    pen.area(0, 0, this.width, kMap + kRuler, ground.gutter);
    this.map ??= utilisation(this.plans[0], this.axis.whole, width);
    const curve = [3, kMap - 2];
    pen.steps(this.gutter, this.map.map((share) => curve[1] - (curve[1] - curve[0]) * share), curve[1], ground.lasting, ground.edge);
    pen.text(8, kMap / 2, "utilisation", this.letter, ground.faint);
    if (this.axis.showsAll) return;
    const left = this.gutter + (width * this.axis.begin) / this.axis.whole;
    const right = Math.max(this.gutter + (width * this.axis.end) / this.axis.whole, left + 3);
    pen.area(this.gutter, 0, left - this.gutter, kMap, ground.gutter, 0.67);
    pen.area(right, 0, this.width - right, kMap, ground.gutter, 0.67);
    pen.frame(left, 0, right - left, kMap, ground.accent);
  }

  paintRuler(pen) {
    const { faint } = this.look.ground;
    for (const { at, text } of ticksOf(this.axis.begin, this.axis.end, this.axis.width, 9 * this.letter)) {
      const x = Math.floor(this.xOf(at)) + 0.5;
      pen.line(x, this.top - 6, x, this.top, faint);
      pen.text(x + 4, kMap + kRuler / 2, text, this.letter, faint);
    }
  }

  rowAt(y) {
    const at = y - this.top + this.scroller.scrollTop;
    return y < this.top ? undefined : this.rows.find((row) => at >= row.y && at < row.y + row.height);
  }

  /// The object under a point: { row, selection | memory | use }.
  hit(x, y) {
    const row = this.rowAt(y);
    if (!row || x < this.gutter) return { row };
    const { plan } = row;
    if (row.linksOf !== undefined) return { row, use: this.timeAt(x) };
    const inRow = y - this.yOf(row);
    const device = deviceAt(row, inRow);
    const inside = ([from, height]) => inRow >= from && inRow < from + height;
    const at = this.timeAt(x);
    if (inside(row.bars)) {
      const bar = runningAt(plan, device.work, at);
      if (bar >= 0) return { row, selection: { plan, bar } };
      const between = runningAt(plan.between, device.between, at);
      if (between >= 0 && plan.between.bar[between] >= 0) return { row, selection: { plan, bar: plan.between.bar[between] } };
      const bubble = runningAt(plan.bubble, device.bubbles, at);
      return bubble >= 0 ? { row, selection: { plan, bubble } } : { row };
    }
    if (inside(row.links))
      for (const track of device.streams) {
        const bar = runningAt(plan, track, at);
        if (bar >= 0) return { row, selection: { plan, bar } };
      }
    return inside(row.memory) ? { row, memory: at } : { row };
  }

  select(selection, reveal = false) {
    this.selection = selection;
    this.measured = null;
    if (selection && reveal) this.reveal(selection);
    this.onSelect?.(selection);
    this.changed();
  }

  /// Scrolls and pans until a selection is visible.
  reveal({ plan, bar, bubble }) {
    const list = bubble !== undefined ? plan.bubble : plan;
    const index = bubble ?? bar;
    this.axis.reveal(list.begin[index], list.end[index]);
    const device = bubble !== undefined
      ? plan.devices.find(({ bubbles }) => bubble >= bubbles.first && bubble < bubbles.last) : plan.deviceOf(bar);
    const row = this.rows.find((one) => one.plan === plan && barsOf(one, device));
    const room = this.height - this.top;
    const { scrollTop } = this.scroller;
    if (row.y < scrollTop) this.scroller.scrollTop = row.y;
    else if (row.y + row.height > scrollTop + room) this.scroller.scrollTop = row.y + row.height - room;
  }

  get hasLinks() { return this.plans.some(({ links }) => links); }

  /// Shows or hides the links of all ranks, or of the rank of a row.
  toggleLinks(row) {
    if (row) this.linked.delete(row.device) || this.linked.add(row.device);
    else {
      this.allLinked = !this.allLinked && this.linked.size === 0;
      this.linked.clear();
    }
    this.resize();
  }

  fold() {
    this.folded = !this.folded;
    this.opened.clear();
    this.resize();
  }
}

/// The longest beginning of a title that fits, up to one of its commas.
function titleIn(title, room, size) {
  const parts = title.split(", ");
  while (parts.length > 1 && parts.join(", ").length * kBoldLetter * size > room) parts.pop();
  return parts.join(", ");
}

/// The share of working devices in each column of the whole axis.
export function utilisation(plan, whole, columns) {
  const shares = new Float64Array(columns);
  for (const { work } of plan.devices)
    for (let i = work.first; i < work.last; ++i) {
      const [begin, end] = [(plan.begin[i] / whole) * columns, (plan.end[i] / whole) * columns];
      const [first, last] = [Math.floor(begin), Math.min(Math.floor(end), columns - 1)];
      if (first === last) shares[first] += end - begin;
      else {
        shares[first] += first + 1 - begin;
        for (let x = first + 1; x < last; ++x) ++shares[x];
        shares[last] += end - last;
      }
    }
  return shares.map((share) => share / Math.max(plan.devices.length, 1));
}
