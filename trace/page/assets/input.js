// Keys, wheel, pointer and fingers.
import { neighbourBubble } from "./causes.js";
import { tipOf } from "./details.js";

const kZoomStep = 1.5;
const kPanStep = 0.12;
const kDragStart = 4;

/// Listens to keys on the whole page, and to the pointer on the canvas.
export function listen(timeline, player, tip, commands) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    if (event.target.closest("button, summary, a") && ["Enter", " "].includes(event.key)) return;
    const command = keyCommand(timeline, player, event, commands);
    if (!command) return;
    event.preventDefault();
    command();
    timeline.changed();
  });
  new Pointer(timeline, tip).listen();
}

function keyCommand(timeline, player, { key, shiftKey }, commands) {
  const { axis } = timeline;
  const played = timeline.cursor !== null;
  const keys = {
    w: () => axis.zoom(kZoomStep, zoomCentre(timeline)),
    s: () => axis.zoom(1 / kZoomStep, zoomCentre(timeline)),
    a: () => axis.pan(-kPanStep * axis.width),
    d: () => axis.pan(kPanStep * axis.width),
    arrowleft: () => (played ? player.step(-1) : axis.pan(-kPanStep * axis.width)),
    arrowright: () => (played ? player.step(1) : axis.pan(kPanStep * axis.width)),
    home: () => axis.fit(),
    f: () => focusSelection(timeline),
    b: () => goToBubble(timeline, shiftKey ? -1 : 1),
    enter: () => follow(timeline),
    ".": () => goToBar(timeline, 1),
    ",": () => goToBar(timeline, -1),
    c: () => commands.path(),
    m: () => commands.scale(),
    l: () => commands.links(),
    u: () => commands.fold(),
    t: () => commands.theme(),
    "?": () => commands.keys(),
    " ": () => player.toggle(),
    escape: () => (timeline.cursor !== null ? player.stop() : timeline.select(null)),
  };
  return keys[key.toLowerCase()];
}

/// The centre of a zoom by key: the pointer if it is over the lanes, else the middle.
function zoomCentre(timeline) {
  return timeline.pointerX === undefined ? timeline.axis.width / 2 : timeline.pointerX - timeline.gutter;
}

export function goToBubble(timeline, by) {
  const plan = timeline.selection?.plan ?? timeline.plans[0];
  const bubble = neighbourBubble(plan, timeline.selection, by);
  if (bubble !== undefined) timeline.select({ plan, bubble }, true);
}

function goToBar(timeline, by) {
  const { selection } = timeline;
  if (selection?.bar === undefined) return;
  const { plan, bar } = selection;
  const track = plan.tracks[plan.trackOf[bar]];
  if (bar + by >= track.first && bar + by < track.last) timeline.select({ plan, bar: bar + by }, true);
}

/// Follows the causes: selects the action that ends a bubble, or the last dependency of an action.
export function follow(timeline) {
  const { selection } = timeline;
  if (!selection) return;
  const { plan, bar, bubble } = selection;
  let next = bubble !== undefined ? plan.bubble.endedBy[bubble] : -1;
  if (bubble === undefined)
    for (const need of plan.directNeeds(bar)) if (next < 0 || plan.end[need] > plan.end[next]) next = need;
  if (next >= 0) timeline.select({ plan, bar: next }, true);
}

function focusSelection(timeline) {
  const { selection, axis } = timeline;
  if (!selection) return;
  const list = selection.bubble !== undefined ? selection.plan.bubble : selection.plan;
  const index = selection.bubble ?? selection.bar;
  const length = list.end[index] - list.begin[index];
  axis.show(list.begin[index] - length, list.end[index] + length);
}

class Pointer {
  constructor(timeline, tip) {
    this.timeline = timeline;
    this.tip = tip;
    this.fingers = new Map();
    this.drag = null;
  }

  listen() {
    const { canvas, scroller } = this.timeline;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event, false));
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; this.timeline.pointerX = undefined; });
    canvas.addEventListener("dblclick", () => { focusSelection(this.timeline); this.timeline.changed(); });
    scroller.addEventListener("scroll", () => this.timeline.changed(), { passive: true });
  }

  wheel(event) {
    const { axis } = this.timeline;
    if (event.ctrlKey) axis.zoom(1.2 ** (-event.deltaY / 100), event.offsetX - this.timeline.gutter);
    else if (event.shiftKey || event.deltaX !== 0) axis.pan(((event.deltaX || event.deltaY) / 100) * 60);
    else return;  // the rows scroll, or the page
    event.preventDefault();
    this.timeline.changed();
  }

  down(event) {
    if (event.button !== 0 && event.button !== 1) return;
    this.timeline.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, event.offsetX);
    const onMap = event.offsetY < 18 && event.offsetX > this.timeline.gutter;
    const pans = event.shiftKey || event.button === 1 || event.pointerType === "touch";
    this.drag = { kind: onMap ? "map" : pans ? "pan" : "measure", x: event.offsetX, y: event.offsetY, last: event.offsetX, far: false };
    this.timeline.scroller.focus({ preventScroll: true });
    if (onMap) this.panToMap(event.offsetX);
  }

  move(event) {
    this.timeline.pointerX = event.offsetX >= this.timeline.gutter ? event.offsetX : undefined;
    if (this.fingers.size === 2 && this.fingers.has(event.pointerId)) return this.pinch(event);
    if (!this.drag) return this.showTip(event);
    const { drag, timeline } = this;
    drag.far ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) >= kDragStart;
    if (drag.kind === "map") this.panToMap(event.offsetX);
    else if (drag.far && drag.kind === "pan") timeline.axis.pan(drag.last - event.offsetX);
    else if (drag.far && drag.x > timeline.gutter) {
      const times = [drag.x, event.offsetX].map((x) => timeline.timeAt(x)).sort((a, b) => a - b);
      timeline.measured = times;
      timeline.onMeasure?.();
    }
    drag.last = event.offsetX;
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, event.offsetX);
    timeline.changed();
  }

  up(event, clicks = true) {
    this.fingers.delete(event.pointerId);
    if (clicks && this.drag && !this.drag.far && this.drag.kind !== "map") this.click(event);
    this.drag = null;
  }

  click(event) {
    const { timeline } = this;
    const hit = timeline.hit(event.offsetX, event.offsetY);
    if (hit.row?.devices.length > 1 && event.offsetX < timeline.gutter) {
      timeline.opened.add(hit.row.panel);
      return timeline.resize();
    }
    if (hit.row?.plan.links && event.offsetX < timeline.gutter) return timeline.toggleLinks(hit.row);
    timeline.rowOfMemory = hit.row;
    timeline.select(hit.selection ?? null);
  }

  /// Zooms by two fingers, so that the times under them stay there.
  pinch(event) {
    const { timeline } = this;
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)[1];
    const before = Math.abs(this.fingers.get(event.pointerId) - other);
    const after = Math.abs(event.offsetX - other);
    if (before > 10 && after > 10) timeline.axis.zoom(after / before, (event.offsetX + other) / 2 - timeline.gutter);
    this.fingers.set(event.pointerId, event.offsetX);
    if (this.drag) this.drag.far = true;
    timeline.changed();
  }

  panToMap(x) {
    const { axis, gutter } = this.timeline;
    const middle = ((x - gutter) / axis.width) * axis.whole;
    const half = (axis.end - axis.begin) / 2;
    axis.show(middle - half, middle + half);
    this.timeline.changed();
  }

  showTip(event) {
    const words = event.pointerType === "touch" ? "" : tipOf(this.timeline, this.timeline.hit(event.offsetX, event.offsetY));
    this.tip.hidden = words === "";
    if (words === "") return;
    this.tip.textContent = words;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - box.width - 8), 4)}px`;
    this.tip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
  }
}
