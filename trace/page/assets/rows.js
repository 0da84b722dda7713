// The rows of a page: for each document one for each rank, with runs of similar ranks folded into one.

const kFoldedRun = 3;
const kManyDevices = 32;
const kMostSamples = 60;
const kBesideFolded = 76;
const kPanelTitle = 24;
const kPanelGap = 10;

/// Ranks are similar if they have equally many actions, and equal times of compute, communication and
/// idleness, to half a percent of the step. The causes of idle time may differ, since waits propagate
/// along a pipeline.
export function similar(plan, a, b) {
  if (a.work.last - a.work.first !== b.work.last - b.work.first) return false;
  const [mine, others] = [sumsOf(a), sumsOf(b)];
  return [...new Set([...mine.keys(), ...others.keys()])]
    .every((name) => Math.abs((mine.get(name) ?? 0) - (others.get(name) ?? 0)) <= 0.005 * plan.length);
}

function sumsOf(device) {
  if (!device.sumsOfParts) {
    device.sumsOfParts = new Map();
    for (const [name, ns, , , idle] of device.parts) {
      const what = idle ? "idle" : name;
      device.sumsOfParts.set(what, (device.sumsOfParts.get(what) ?? 0) + ns);
    }
  }
  return device.sumsOfParts;
}

/// The ranks in the longest possible runs of similar neighbours.
export function runsOf(plan) {
  const runs = [];
  for (const device of plan.devices) {
    const run = runs.at(-1);
    if (run && similar(plan, run[0], device)) run.push(device);
    else runs.push([device]);
  }
  return runs.flatMap((run) => (run.length < kFoldedRun ? run.map((device) => [device]) : [run]));
}

export function foldsAtFirst(plan) {
  return plan.devices.length > kManyDevices && runsOf(plan).length < plan.devices.length;
}

/// Lays out rows as high as there is room, within readable limits: { rows, height, titles }. The
/// links of the devices in `linked`, or of all devices, have rows of their own.
export function layOut(plans, { folded, opened, available, low, linked = new Set(), allLinked = false }) {
  const panels = plans.map((plan, p) => rowsOf(plan, folded && !opened.has(p)));
  const count = panels.reduce((sum, rows) => sum + rows.length, 0);
  const besides = plans.length > 1 ? plans.length * (kPanelTitle + kPanelGap) : 0;
  const rows = [];
  const titles = [];
  let y = 0;
  plans.forEach((plan, p) => {
    if (plans.length > 1) {
      titles.push({ plan, y, height: kPanelTitle });
      y += kPanelTitle;
    }
    const share = (available - besides) / count;
    const layout = layoutFor(plan, panels[p].length < plan.devices.length ? Math.min(share, kBesideFolded) : share, low);
    for (const devices of panels[p]) {
      const shape = devices.length > 1 ? foldedLayout(devices) : layout;
      rows.push({ plan, panel: p, devices, device: devices[0], y, ...shape });
      y += shape.height;
      if (devices.length === 1 && (allLinked || linked.has(devices[0])))
        for (const row of rowsOfLinks(plan, devices)) {
          rows.push({ ...row, panel: p, y });
          y += row.height;
        }
    }
    if (plans.length > 1) y += kPanelGap;
  });
  return { rows, titles, height: y };
}

/// A row for each class of links of a device.
function rowsOfLinks(plan, devices) {
  if (!plan.links) return [];
  const { height, use } = plan.links;
  return plan.links.lanes[plan.devices.indexOf(devices[0])]
    .map((_, linksOf) => ({ plan, devices, device: devices[0], linksOf, height, use, bars: [0, 0], links: [0, 0], memory: [0, 0] }));
}

/// Whether a row has the bars of a device.
export function isOwn(row) {
  return row.linksOf === undefined && !row.sampled;
}

/// The row of similar ranks: a sample of them, two pixels high each, which shows how the work moves
/// from rank to rank.
function foldedLayout(devices) {
  const samples = Math.min(devices.length, kMostSamples);
  const height = 2 * samples;
  return { height: Math.max(height, 44) + 4, bars: [0, height], links: [0, 0], memory: [0, 0], heat: true,
    sampled: Array.from({ length: samples }, (_, i) => devices[Math.floor((i * devices.length) / samples)]) };
}

/// The device of a row at a height in it.
export function deviceAt(row, inRow) {
  if (!row.sampled) return row.device;
  return row.sampled[Math.min(Math.max(Math.floor(inRow / 2), 0), row.sampled.length - 1)];
}

/// The band of a device's bars in a row: [y, height]; undefined if they are in another row.
export function barsOf(row, device) {
  if (row.device === device && isOwn(row)) return row.bars;
  const place = row.sampled ? row.devices.indexOf(device) : -1;
  return place < 0 ? undefined : [2 * Math.floor((place * row.sampled.length) / row.devices.length), 2];
}

function rowsOf(plan, folded) {
  return folded ? runsOf(plan) : plan.devices.map((device) => [device]);
}

/// The highest of a plan's readable layouts that leaves room for all rows.
function layoutFor(plan, share, low) {
  const least = plan.devices.length > kManyDevices ? 20 : low;
  const layouts = plan.layouts.filter(({ height }) => height >= least);
  const fitting = layouts.filter(({ height }) => height <= share);
  return fitting.at(-1) ?? layouts[0] ?? plan.layouts.at(-1);
}

/// The name of a row: "rank 3", "ranks 1 to 998".
export function nameOf({ devices, device }, narrow = false) {
  const [first, last] = [devices[0].rank, devices.at(-1).rank];
  if (devices.length === 1) return device.name;
  return narrow ? `${first} to ${last}` : `ranks ${first} to ${last}`;
}

/// Draws the words left of a row, and a bar of the parts of its step.
export function drawGutter(pen, row, { y, width, letter, look, theme }) {
  const { device } = row;
  const { text, faint, warning } = look.ground;
  const line = 1.4 * letter;
  const right = width - 6;
  const barHeight = row.height < 16 ? 0 : row.height < 50 ? 3 : 6;
  const height = row.height - (barHeight > 0 ? barHeight + 1 : 0);
  const ink = device.too_much ? warning : faint;
  const two = height >= 3 * letter;
  const first = two ? y + 1 + line / 2 : y + height / 2;
  const narrow = width < 10 * letter;
  const small = Math.min(letter, Math.max(height - 1, 6));
  pen.text(8, first, nameOf(row, narrow), two && !narrow ? 1.2 * letter : small, text);
  if (!two && !narrow) pen.text(right, first, device.too_much ? device.memory : device.idle, small, ink, "end");
  if (two) {
    const copies = row.devices.length > 1 ? "alike" : device.copies;
    if (!narrow && copies !== "") pen.text(right, first, copies, letter, faint, "end");
    const three = height >= 4.4 * letter;
    const both = three && device.exposed !== "" && !narrow;
    pen.text(8, first + line, both ? `${device.idle}, ${device.exposed}` : device.idle, letter, faint);
    const memory = narrow ? device.memory.replace(/\/.*GiB/, " GiB") : device.memory;
    if (three) pen.text(8, first + 2 * line, memory, letter, ink);
    else if (!narrow) pen.text(right, first + line, memory, letter, ink, "end");
  }
  if (barHeight > 0) drawStepBar(pen, device, 8, Math.min(y + row.height - barHeight - 1, y + 3 * line + 4), right - 8, barHeight, theme);
}

/// A bar divided by the shares of the parts of a rank's step.
export function drawStepBar(pen, device, x, y, width, height, theme) {
  const step = device.parts.reduce((sum, [, ns]) => sum + ns, 0);
  let before = 0;
  for (const [, ns, light, dark] of device.parts) {
    pen.area(x + (width * before) / step, y, (width * ns) / step, height, theme === "dark" ? dark : light);
    before += ns;
  }
}
