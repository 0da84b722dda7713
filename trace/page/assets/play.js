// Playing: a cursor runs over the step. The part before it is bright, messages move between rows, and
// waiting ranks show their causes; several plans run on one clock.
import { barsIn, runningAt } from "./plan.js";
import { inkOn } from "./bars.js";
import { percent, timeText } from "./words.js";
import { isOwn } from "./rows.js";
import { causeOf } from "./causes.js";

const kSecondsOfStep = 14;  // at speed 1
const kMostMessages = 400;

export class Player {
  constructor(timeline, onTick) {
    this.timeline = timeline;
    this.onTick = onTick;
    this.playing = false;
    this.speed = 1;
  }

  toggle() {
    if (this.playing) return this.pause();
    const { timeline } = this;
    if (timeline.cursor === null || timeline.cursor >= timeline.axis.whole) timeline.cursor = 0;
    timeline.overDraw = drawPlayed;
    this.playing = true;
    this.before = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.onTick();
  }

  pause() {
    this.playing = false;
    this.onTick();
  }

  stop() {
    this.playing = false;
    this.timeline.cursor = null;
    this.timeline.overDraw = null;
    this.timeline.changed();
    this.onTick();
  }

  tick(now) {
    if (!this.playing) return;
    const { timeline } = this;
    const seconds = Math.max(now - this.before, 0) / 1000;
    this.before = now;
    this.moveTo(timeline.cursor + (timeline.axis.whole * this.speed * seconds) / kSecondsOfStep);
    if (timeline.cursor >= timeline.axis.whole) return this.pause();
    requestAnimationFrame((next) => this.tick(next));
  }

  moveTo(at) {
    const { axis } = this.timeline;
    this.timeline.cursor = Math.min(Math.max(at, 0), axis.whole);
    this.timeline.overDraw = drawPlayed;
    const length = axis.end - axis.begin;
    if (this.timeline.cursor > axis.end || this.timeline.cursor < axis.begin)
      axis.show(this.timeline.cursor - 0.1 * length, this.timeline.cursor + 0.9 * length);
    this.timeline.draw();
    this.onTick();
  }

  /// Moves to the next start of an action on any rank, or to the previous one (by -1).
  step(by) {
    const now = this.timeline.cursor ?? 0;
    let best = by > 0 ? this.timeline.axis.whole : 0;
    for (const plan of this.timeline.plans)
      for (const { work } of plan.devices) {
        const [, next] = barsIn(plan, work, now, by > 0 ? now + 1 : now);
        const bar = by > 0 ? next : next - 1;
        if (bar < work.first || bar >= work.last) continue;
        best = by > 0 ? Math.min(best, plan.begin[bar]) : Math.max(best, plan.begin[bar]);
      }
    this.moveTo(best);
  }
}

/// The share of a plan's actions that have ended at an instant.
export function doneAt(plan, at) {
  let done = 0;
  let all = 0;
  for (const { work } of plan.devices) {
    const [, next] = barsIn(plan, work, at, at);
    all += work.last - work.first;
    done += next - work.first;
  }
  return done / Math.max(all, 1);
}

/// The progress of a plan in words: "62.1 % done", "done after 1.1 s".
export function progressOf(plan, at) {
  return at >= plan.length ? `done after ${timeText(plan.length)}` : `${percent(doneAt(plan, at))} done`;
}

function drawPlayed(pen, view, shown) {
  const x = view.xOf(view.cursor);
  const { ground } = view.look;
  pen.area(x, view.top, Math.max(view.width - x, 0), view.height - view.top, ground.window, 0.72);
  for (const row of shown) if (isOwn(row)) lightRunning(pen, view, row);
  for (const plan of view.plans) drawMessages(pen, view, plan, shown);
  pen.line(x, view.top, x, view.height, ground.accent, 2);
  for (const row of shown) if (isOwn(row)) drawWaitingWords(pen, view, row);
  for (const { plan, y, height } of view.titles) {
    const at = view.top + y - view.scroller.scrollTop;
    pen.text(view.width - 10, at + height / 2, progressOf(plan, view.cursor), view.letter, ground.accent, "end", true);
  }
}

function lightRunning(pen, view, row) {
  const bar = runningAt(row.plan, row.device.work, view.cursor);
  if (bar < 0) return;
  const left = Math.max(view.xOf(row.plan.begin[bar]), view.gutter);
  pen.frame(left, view.yOf(row) + row.bars[0], Math.max(view.xOf(row.plan.end[bar]) - left, 2), row.bars[1], view.look.ground.text, 1.5);
}

/// A message moves from the row of its sender to that of its receiver during the transfer.
function drawMessages(pen, view, plan, shown) {
  const rows = new Map(shown.filter((row) => row.plan === plan && row.linksOf === undefined).map((row) => [row.device.rank, row]));
  let drawn = 0;
  for (const row of rows.values())
    for (const track of row.device.streams) {
      const bar = runningAt(plan, track, view.cursor);
      if (bar < 0 || plan.classOf(bar).role !== "send") continue;
      const to = rows.get(plan.numbersOf(bar).at(-2));
      if (!to || ++drawn > kMostMessages) continue;
      const share = (view.cursor - plan.begin[bar]) / plan.lengthOf(bar);
      const y = (one) => view.yOf(one) + one.bars[0] + one.bars[1] / 2;
      pen.dot(view.xOf(view.cursor), y(row) + share * (y(to) - y(row)), 4.5, view.look.paints[4], view.look.ground.window);
    }
}

function drawWaitingWords(pen, view, row) {
  const b = runningAt(row.plan.bubble, row.device.bubbles, view.cursor);
  if (b < 0 || row.bars[1] < view.letter) return;
  const words = causeOf(row.plan, b);
  const { accent } = view.look.ground;
  const width = 0.62 * view.letter * words.length + 10;
  const y = view.yOf(row) + row.bars[0] + row.bars[1] / 2;
  const fits = view.xOf(view.cursor) + 8 + width < view.width;
  const x = fits ? view.xOf(view.cursor) + 8 : view.xOf(view.cursor) - 8 - width;
  pen.area(x, y - view.letter * 0.8, width, view.letter * 1.6, accent);
  pen.text(x + 5, y, words, view.letter, inkOn(accent));
}
