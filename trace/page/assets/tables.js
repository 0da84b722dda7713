// Figures below the timeline: the parts of each rank's step, memory by class, and copies of tables.
import { drawMemory } from "./memory.js";
import { CanvasPen } from "./pen.js";
import { runsOf } from "./rows.js";
import { element } from "./details.js";
import { percent, timeText } from "./words.js";

/// The parts of each rank's step: as a bar, and in figures. Similar ranks share a row.
export function showParts(place, timeline) {
  const tables = timeline.plans.map((plan) => {
    const names = [...new Set(plan.devices.flatMap(({ parts }) => parts.map(([name]) => name)))];
    const head = element("tr", {}, ...["rank", "", ...names].map((name) => element("th", { textContent: name })));
    const rows = runsOf(plan).map((run) => partsRow(run, names, timeline.theme));
    return [...(timeline.plans.length > 1 ? [element("h3", { textContent: plan.title })] : []),
      element("div", { className: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)))];
  });
  place.replaceChildren(...tables.flat());
}

function partsRow(run, names, theme) {
  const [{ rank, parts }] = run;
  const step = parts.reduce((sum, [, ns]) => sum + ns, 0);
  const bar = element("div", { className: "parts" });
  for (const [name, ns, light, dark] of parts) {
    const part = element("span", { title: `${name} ${timeText(ns)}, ${percent(ns / step)}` });
    part.style.cssText = `width:${(100 * ns) / step}%;background:${theme === "dark" ? dark : light}`;
    bar.append(part);
  }
  const times = new Map(parts.map(([name, ns]) => [name, ns]));
  const cells = names.map((name) => element("td", { textContent: times.has(name) ? `${timeText(times.get(name))}, ${percent(times.get(name) / step)}` : "" }));
  const name = run.length > 1 ? `${rank} to ${run.at(-1).rank}` : `${rank}`;
  return element("tr", {}, element("td", { textContent: name }), element("td", {}, bar), ...cells);
}

/// The memory of one rank by class, with an axis of bytes, on the rows' axis of time.
export class MemoryChart {
  constructor(timeline, canvas, choice, part) {
    Object.assign(this, { timeline, canvas, choice, part });
    this.context = canvas.getContext("2d");
    timeline.plans.forEach((plan, p) => plan.devices.forEach((device, d) => {
      if (device.memorySteps.last > device.memorySteps.first)
        choice.append(element("option", { value: `${p} ${d}`, textContent: `${timeline.plans.length > 1 ? `${plan.title.split(":")[0]}, ` : ""}${device.name}` }));
    }));
    part.hidden = choice.options.length === 0;
    choice.addEventListener("change", () => this.draw());
    if (!part.hidden) choice.value = this.fullest();
  }

  fullest() {
    let best = [0, this.choice.options[0].value];
    for (const { value } of this.choice.options) {
      const { device } = this.chosen(value);
      const held = device.peak?.held.reduce((sum, bytes) => sum + bytes, 0) ?? 0;
      if (held > best[0]) best = [held, value];
    }
    return best[1];
  }

  chosen(value = this.choice.value) {
    const [p, d] = value.split(" ").map(Number);
    const plan = this.timeline.plans[p];
    return { plan, device: plan.devices[d] };
  }

  show({ plan, device }) {
    const value = `${this.timeline.plans.indexOf(plan)} ${plan.devices.indexOf(device)}`;
    if ([...this.choice.options].some((option) => option.value === value)) this.choice.value = value;
    this.draw();
  }

  /// Draws again if the axis has moved.
  follow() {
    const { begin, end, width } = this.timeline.axis;
    if (this.drawn?.begin !== begin || this.drawn.end !== end || this.drawn.width !== width) this.draw();
  }

  draw() {
    const { begin, end, width: lanes } = this.timeline.axis;
    this.drawn = { begin, end, width: lanes };
    if (this.part.hidden) return;
    const { timeline, canvas, context } = this;
    const height = 200;
    const width = timeline.width;
    canvas.width = Math.round(width * timeline.scale);
    canvas.height = Math.round(height * timeline.scale);
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    context.setTransform(timeline.scale, 0, 0, timeline.scale, 0, 0);
    const pen = new CanvasPen(context, timeline.scale, 6);
    const { plan, device } = this.chosen();
    const { ground } = timeline.look;
    pen.area(0, 0, width, height, ground.window);
    const scale = timeline.memoryScale;
    const lane = { ...timeline.lane({ plan, device, y: 0 }, [0, 1]), y: 8, height: height - 16 };
    pen.clipped(lane.x, 0, lane.width, height, () => drawMemory(pen, lane, scale, false));
    const step = niceStep(scale.top / 1024 ** 3, 5);
    for (let gib = 0; gib * 1024 ** 3 <= scale.top; gib += step) {
      const y = Math.floor(lane.y + lane.height * (1 - (gib * 1024 ** 3) / scale.top)) + 0.5;
      pen.line(lane.x, y, width, y, ground.grid, 0.5);
      pen.text(lane.x - 6, y, `${Number(gib.toPrecision(4))} GiB`, timeline.letter, ground.faint, "end");
    }
    if (scale.limit === null) return;
    const y = Math.floor(lane.y + lane.height * (1 - scale.limit / scale.top)) + 0.5;
    pen.line(lane.x, y, width, y, ground.warning, 1, [4, 3]);
  }
}

function niceStep(most, steps) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(most / steps, 1e-6)));
  return [1, 2, 5, 10].map((times) => times * unit).find((step) => most / step <= steps) ?? 10 * unit;
}

/// Every table gets a button that copies it, with tabs between its cells.
export function addCopyButtons(root) {
  for (const table of root.querySelectorAll("table:not(#shortcuts)")) {
    const button = element("button", { className: "copy", textContent: "Copy" });
    button.addEventListener("click", async () => {
      const text = [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t")).join("\n");
      await navigator.clipboard?.writeText(text).then(() => (button.textContent = "Copied"), () => (button.textContent = "Not allowed"));
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    (table.closest(".wide") ?? table).before(button);
  }
}
