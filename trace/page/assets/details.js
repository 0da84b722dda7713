// The selection in words: the sentence above the timeline, and names with values below it.
import { answerLine, detailsOf, tipOfBar, tipOfBubble } from "./causes.js";
import { tipOfLinks } from "./links.js";
import { memoryAt } from "./memory.js";
import { percent, sizeText, timeText } from "./words.js";

const kHint = "Click a bar or a bubble to learn why it begins when it does. B goes from bubble to bubble, Enter to what ends one, Space plays the step.";

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/// Shows the sentence of a selection, with its bars as links.
export function showAnswer(place, timeline) {
  const { selection } = timeline;
  if (!selection) return place.replaceChildren(timeline.measured ? `Measured: ${timeText(Math.round(timeline.measured[1] - timeline.measured[0]))}` : kHint);
  const phrases = answerLine(selection.plan, selection, timeline.words.kinds).map((phrase) => {
    if (typeof phrase === "string") return phrase;
    const link = element("button", { className: "link", textContent: phrase.words });
    link.addEventListener("click", () => timeline.select({ plan: selection.plan, bar: phrase.bar }, true));
    return link;
  });
  place.replaceChildren(...phrases);
}

/// Shows names and values of a selection, and the same action of the other plans.
export function showDetails(place, timeline) {
  const { selection } = timeline;
  if (!selection) return place.replaceChildren();
  const rows = detailsOf(selection.plan, selection, timeline.words.kinds);
  for (const plan of timeline.plans) {
    if (plan === selection.plan || selection.bubble !== undefined) continue;
    const same = sameBar(selection.plan, selection.bar, plan);
    if (same < 0) continue;
    const [here, there] = [selection.plan.lengthOf(selection.bar), plan.lengthOf(same)];
    const change = 100 * (here / there - 1);
    rows.push([`in ${plan.title.split(":")[0]}`, `${timeText(there)}, here ${change < 0 ? "" : "+"}${change.toFixed(1)} %`]);
  }
  const list = element("dl");
  for (const [name, value] of rows) list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
  place.replaceChildren(element("h2", { textContent: "Selected" }), list);
}

/// The first bar of another plan with the same action on the same rank; -1 for none.
function sameBar(plan, bar, other) {
  const words = plan.textOf(bar);
  const device = other.devices.find(({ rank }) => rank === plan.deviceOf(bar).rank);
  for (const track of device ? [device.work, ...device.streams] : [])
    for (let i = track.first; i < track.last; ++i) if (other.textOf(i) === words) return i;
  return -1;
}

/// The tool tip of the object under the pointer; empty without one.
export function tipOf(timeline, hit) {
  const { selection, row } = hit;
  if (selection?.bubble !== undefined) return tipOfBubble(selection.plan, selection.bubble);
  if (selection) return tipOfBar(selection.plan, selection.bar, timeline.words.kinds);
  if (row && hit.memory !== undefined) return tipOfMemory(timeline, row, hit.memory);
  if (row && hit.use !== undefined) return tipOfLinks(row, hit.use);
  if (!row) return "";
  const step = row.device.parts.reduce((sum, [, ns]) => sum + ns, 0);
  return [row.device.name, ...row.device.parts.map(([name, ns]) => `${name} ${timeText(ns)}, ${percent(ns / step)}`)].join("\n");
}

function tipOfMemory(timeline, row, at) {
  if (row.device.memorySteps.first === row.device.memorySteps.last) return row.device.peak?.tip ?? "";
  const held = memoryAt(row.plan, row.device, at);
  const parts = held.map((bytes, i) => [bytes, timeline.words.memory[i]]).filter(([bytes]) => bytes > 0);
  return [`${row.device.name} holds ${sizeText(held.reduce((a, b) => a + b, 0))} at ${timeText(Math.round(at))}`,
    ...parts.map(([bytes, name]) => `${name} ${sizeText(bytes)}`)].join("\n");
}

/// The legend: swatches and words of trace/picture. Several plans share one, without figures.
export function showLegend(place, timeline) {
  const several = timeline.plans.length > 1;
  const seen = new Set();
  const isNew = ({ words, fill }) => !seen.has(words + fill) && seen.add(words + fill);
  const legends = timeline.plans.map((plan) => plan.legend[timeline.theme]);
  const memoryOf = (legend) => (legend.findIndex(({ words }) => words === "memory:") + 1 || legend.length + 1) - 1;
  const entries = [...legends.flatMap((legend) => legend.slice(0, memoryOf(legend))), ...legends.flatMap((legend) => legend.slice(memoryOf(legend)))]
    .map((entry) => (several ? { ...entry, words: entry.words.replace(/ [\d.]+ %.*$/, "") } : entry))
    .filter((entry) => isNew(entry) && (!several || entry.words !== "idle"));
  place.replaceChildren(...entries.map((entry) => {
    const item = element("li", { textContent: entry.words });
    if (entry.fill || entry.line || entry.dot) item.prepend(swatch(entry));
    return item;
  }));
}

/// Colours the swatches of the explanation.
export function showSwatches(root, { look }) {
  for (const box of root.querySelectorAll(".swatch[data-paint]")) {
    box.style.cssText = swatch({ fill: look.paints[box.dataset.paint], hatch: "hatched" in box.dataset ? look.recompute : undefined }).style.cssText;
  }
  for (const box of root.querySelectorAll(".swatch[data-cause]")) {
    const [ground, line] = look.causes[box.dataset.cause];
    box.style.cssText = swatch({ fill: ground, hatch: [line, 1] }).style.cssText;
  }
}

function swatch({ fill, hatch, line, dot }) {
  const box = element("span", { className: "swatch" });
  if (fill) box.style.backgroundColor = fill;
  if (hatch) box.style.backgroundImage = `repeating-linear-gradient(135deg, ${hatch[0]} 0 ${hatch[1]}px, transparent ${hatch[1]}px 4px)`;
  if (line) box.style.borderTop = `2px dashed ${line}`;
  if (dot) Object.assign(box.style, { backgroundColor: dot, borderRadius: "50%", width: "9px", height: "9px" });
  return box;
}
