// Causes: what bubbles wait for and what actions waited for, in the words of the reports.
import { firstFrom } from "./plan.js";
import { general, percent, sizeText, timeText } from "./words.js";

/// "4.2 ms, 61.4 % of it (EP 40.2 %, TP 21.2 %)".
export function exposedText(plan, bar, kinds) {
  const [exposed, ...parts] = plan.exposureOf(bar);
  const length = plan.lengthOf(bar);
  const named = parts.map((ns, k) => [ns / length, kinds[k]]).filter(([share]) => share >= 0.0005)
    .sort((a, b) => b[0] - a[0]).map(([share, name]) => `${name} ${percent(share)}`);
  return `${timeText(exposed)}, ${percent(plan.exposedShare(bar))} of it${named.length > 0 ? ` (${named.join(", ")})` : ""}`;
}

export function tipOfBar(plan, bar, kinds) {
  const size = plan.bytes[plan.size[bar] - 1];
  return [
    plan.textOf(bar),
    `${timeText(plan.lengthOf(bar))} from ${timeText(plan.begin[bar])}`,
    ...(plan.exposureOf(bar) ? [`exposed communication ${exposedText(plan, bar, kinds)}`] : []),
    ...(size > 0 ? [sizeText(size)] : []),
  ].join(" \u00b7 ");
}

export function tipOfBubble(plan, b) {
  return `bubble \u00b7 ${timeText(plan.bubble.end[b] - plan.bubble.begin[b])} \u00b7 ${causeOf(plan, b)}`;
}

/// "waits for stage 2: 2B3 of rank 2".
export function causeOf(plan, b) {
  const bar = plan.bubble.waitedFor[b];
  const known = bar >= 0;
  const what = known ? plan.placeOf(bar) : "";
  switch (plan.bubble.cause[b]) {
    case 0: return `warm-up: before its first compute${known ? `, ${plan.textOf(bar)}` : ""}`;
    case 1: return "cool-down: other ranks still compute";
    case 2: {
      if (!known) return "waits for another stage";
      const computes = plan.classOf(bar).role === "work" && !plan.classOf(bar).hatched;
      return computes ? `waits for stage ${plan.numbersOf(bar)[0]}: ${what}` : `waits for ${what}`;
    }
    case 3: return known ? `waits for a link: ${what}` : "waits for a link";
    case 4: return known ? `waits for a collective: ${what}` : "waits for a collective";
    case 5: return "optimizer barrier: no rank computes any more";
    case 6: return known ? `the host launches ${plan.textOf(bar)} late` : "the host is late";
    default: return known ? `waits for an uneven load: ${what}` : "waits for an uneven load";
  }
}

const kLaunch = 6;
const kWaitsFor = [
  "before its first compute; the bubble ends with ",
  "after its last compute; the last one of all is ",
  "for another stage: ",
  "for a message on its way: ",
  "for its group: ",
  "at the optimizer's barrier; the bubble ends with ",
  "for the host, which is late with ",
  "for a greater load than the mean: ",
];

/// The dependency of a bar that ends last; -1 for none.
function lastNeed(plan, bar) {
  let last = -1;
  for (const need of plan.needsOf(bar)) if (last < 0 || plan.end[need] > plan.end[last]) last = need;
  return last;
}

/// The last bar of the same device that begins before a bar; -1 at the start.
function workBefore(plan, bar) {
  const { work } = plan.deviceOf(bar);
  const own = firstFrom(plan.begin, work.first, work.last, plan.begin[bar]);
  return own > work.first ? own - 1 : -1;
}

/// The selection in one sentence, as phrases and the bars that they name: [words | { bar, words }...].
export function answerLine(plan, selection, kinds) {
  return selection.bubble !== undefined ? answerOfBubble(plan, selection.bubble) : answerOfBar(plan, selection.bar, kinds);
}

function answerOfBubble(plan, b) {
  const { begin, end, cause, endedBy } = plan.bubble;
  const rank = deviceOfBubble(plan, b).rank;
  const length = timeText(end[b] - begin[b]);
  const bar = endedBy[b];
  if (bar < 0) return [`Rank ${rank} is idle for ${length}: ${causeOf(plan, b)}.`];
  const line = [`Rank ${rank} waits ${length} ${kWaitsFor[cause[b]]}`, { bar, words: plan.placeOf(bar) }];
  const computes = ["work", "optimizer"].includes(plan.classOf(bar).role);
  return [...line, ...(computes && cause[b] !== kLaunch ? because(plan, bar) : []), "."];
}

/// The reason why a bar did not begin earlier.
function because(plan, bar) {
  const need = lastNeed(plan, bar);
  if (need < 0) return [", which waits for nothing"];
  const after = plan.begin[bar] - plan.end[need];
  const place = { bar: need, words: plan.deviceOf(need) === plan.deviceOf(bar) ? plan.textOf(need) : plan.placeOf(need) };
  return after > 0 ? [`, which begins ${timeText(after)} after `, place] : [", which begins when ", place, " ends"];
}

function answerOfBar(plan, bar, kinds) {
  const line = [{ bar, words: plan.placeOf(bar) }, ` (${plan.wordsOf(bar)}) takes ${timeText(plan.lengthOf(bar))}`];
  if (plan.exposureOf(bar)) line.push(`, of it exposed ${exposedText(plan, bar, kinds)}`);
  if (plan.waited[bar] > 0) line.push(`, of it waiting ${timeText(plan.waited[bar])}`);
  const need = lastNeed(plan, bar);
  if (need < 0) return [...line, "."];
  const after = plan.begin[bar] - plan.end[need];
  const same = plan.deviceOf(need) === plan.deviceOf(bar);
  const follows = need === workBefore(plan, bar);
  line.push(after > 0 ? `; it begins ${timeText(after)} after ` : follows ? "; it follows " : "; it begins when ");
  line.push({ bar: need, words: same ? plan.textOf(need) : plan.placeOf(need) });
  return [...line, after <= 0 && !follows ? " ends." : "."];
}

export function deviceOfBubble(plan, b) {
  return plan.devices.find(({ bubbles }) => b >= bubbles.first && b < bubbles.last);
}

/// The bubble after (by 1) or before (by -1) a selection: of the same rank in order of time, then of
/// the next rank; undefined at the ends.
export function neighbourBubble(plan, selection, by) {
  const { begin } = plan.bubble;
  let b = by > 0 ? 0 : begin.length - 1;
  if (selection?.bubble !== undefined) b = selection.bubble + by;
  else if (selection) {
    const { bubbles } = plan.deviceOf(selection.bar);
    b = firstFrom(begin, bubbles.first, bubbles.last, plan.begin[selection.bar]) - (by > 0 ? 0 : 1);
  }
  return b >= 0 && b < begin.length ? b : undefined;
}

/// The details of a selection, as names and values.
export function detailsOf(plan, selection, kinds) {
  if (selection.bubble !== undefined) return detailsOfBubble(plan, selection.bubble);
  const { bar } = selection;
  const size = plan.bytes[plan.size[bar] - 1] ?? 0;
  const net = plan.lengthOf(bar) - plan.waited[bar];
  return [
    ["action", plan.textOf(bar)],
    ["", plan.wordsOf(bar)],
    ["where", plan.deviceOf(bar).name],
    ["start", timeText(plan.begin[bar])],
    ["duration", timeText(plan.lengthOf(bar))],
    ...(plan.waited[bar] > 0 ? [["of it waiting", timeText(plan.waited[bar])]] : []),
    ...(plan.exposureOf(bar) ? [["exposed communication", exposedText(plan, bar, kinds)]] : []),
    ...(size > 0 ? [["bytes", sizeText(size)]] : []),
    ...(size > 0 && net > 0 ? [["rate", `${general(size / net, 3)} GB/s`]] : []),
  ];
}

function detailsOfBubble(plan, b) {
  const { begin, end, endedBy } = plan.bubble;
  const device = deviceOfBubble(plan, b);
  const step = device.parts.reduce((sum, [, ns]) => sum + ns, 0);
  return [
    ["bubble", causeOf(plan, b)],
    ["where", device.name],
    ["start", timeText(begin[b])],
    ["duration", `${timeText(end[b] - begin[b])}, ${general((100 * (end[b] - begin[b])) / plan.length, 2)} % of the step`],
    ...(endedBy[b] >= 0 ? [["ended by", plan.placeOf(endedBy[b])]] : []),
    ...device.parts.filter(([, , , , idle]) => idle).map(([name, ns]) => [name, `${timeText(ns)}, ${percent(ns / step)}`]),
  ];
}
