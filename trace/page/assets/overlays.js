// Marks over the lanes: the selection with its arrows, the critical path, the measured range.
import { inkOn } from "./bars.js";
import { deviceOfBubble } from "./causes.js";
import { barsOf } from "./rows.js";
import { timeText } from "./words.js";

const kMostLines = 600;

export function drawOverlays(pen, view) {
  if (view.critical) drawCriticalPath(pen, view);
  if (view.selection) drawSelection(pen, view);
  if (view.measured) drawMeasured(pen, view);
}

/// The rectangle of a bar; undefined if its row is folded away.
export function placeOfBar(view, plan, bar) {
  const device = plan.deviceOf(bar);
  const row = view.rows.find((one) => one.plan === plan && barsOf(one, device));
  if (!row) return undefined;
  const isWork = bar >= device.work.first && bar < device.work.last;
  const [top, height] = isWork || row.sampled ? barsOf(row, device) : row.links;
  const left = view.xOf(plan.begin[bar]);
  return { x: left, y: view.yOf(row) + top, width: view.xOf(plan.end[bar]) - left, height };
}

function placeOfBubble(view, plan, b) {
  const { begin, end } = plan.bubble;
  const device = deviceOfBubble(plan, b);
  const row = view.rows.find((one) => one.plan === plan && barsOf(one, device));
  if (!row) return undefined;
  const [top, height] = barsOf(row, device);
  const left = view.xOf(begin[b]);
  return { x: left, y: view.yOf(row) + top, width: view.xOf(end[b]) - left, height };
}

function outline(pen, { x, y, width, height }, ink) {
  pen.frame(x - 1, y - 1, Math.max(width, 2) + 2, height + 2, ink, 2);
}

function drawSelection(pen, view) {
  const { plan, bar, bubble } = view.selection;
  const { accent, text } = view.look.ground;
  const place = bubble !== undefined ? placeOfBubble(view, plan, bubble) : placeOfBar(view, plan, bar);
  if (!place) return;
  if (bubble !== undefined) {
    const end = plan.bubble.endedBy[bubble];
    const to = end >= 0 ? placeOfBar(view, plan, end) : undefined;
    if (to) arrowFromBubble(pen, view, place, to, accent);
  } else {
    const arrow = (from, to, ink) => from && to &&
      pen.arrow(from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2, ink);
    for (const need of plan.directNeeds(bar)) arrow(placeOfBar(view, plan, need), place, text);
    for (const user of plan.directUsers(bar)) arrow(place, placeOfBar(view, plan, user), accent);
  }
  outline(pen, place, accent);
}

/// Draws an arrow to the action that ends a bubble, from the middle of the bubble's visible part, at
/// the edge on that side.
function arrowFromBubble(pen, view, bubble, to, ink) {
  const inside = (x) => Math.min(Math.max(x, view.gutter), view.width);
  const y = to.y + to.height / 2;
  const from = Math.min(Math.max(y, bubble.y), bubble.y + bubble.height);
  pen.arrow((inside(bubble.x) + inside(bubble.x + bubble.width)) / 2, from, to.x, y, ink);
}

/// Joins bars of the path on different ranks by lines. The bars stand out already.
function drawCriticalPath(pen, view) {
  for (const { plan } of view.panels) {
    const inSight = (bar) => plan.begin[bar] < view.axis.end && plan.end[bar] > view.axis.begin;
    const path = [...plan.criticalPath].filter(inSight);
    if (path.length > kMostLines) continue;
    for (let i = 1; i < path.length; ++i) {
      const [from, to] = [placeOfBar(view, plan, path[i - 1]), placeOfBar(view, plan, path[i])];
      if (from && to && from.y !== to.y)
        pen.line(from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2, view.look.ground.accent, 1.5);
    }
  }
}

function drawMeasured(pen, view) {
  const [begin, end] = view.measured;
  const { accent } = view.look.ground;
  const [left, right] = [view.xOf(begin), view.xOf(end)];
  pen.area(left, view.top, right - left, view.height - view.top, accent, 0.1);
  for (const x of [left, right]) pen.line(x, view.top, x, view.height, accent);
  const words = timeText(Math.round(end - begin));
  const width = 7.4 * words.length + 8;
  const x = Math.min(Math.max((left + right - width) / 2, view.gutter), Math.max(view.width - width, view.gutter));
  pen.area(x, view.top + 3, width, 18, accent);
  pen.text(x + width / 2, view.top + 12, words, 12, inkOn(accent), "middle");
}
