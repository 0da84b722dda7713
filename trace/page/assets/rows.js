// The rows of a page: one for each rank, ranks alike as one, below each other for every document.

const kFoldedRun = 3;
const kManyDevices = 32;
const kPanelTitle = 24;
const kPanelGap = 10;

/// Ranks are alike if they have as many actions, and their step goes where that of the other goes,
/// to half a percent of it.
export function alike(plan, a, b) {
  if (a.work.last - a.work.first !== b.work.last - b.work.first || a.parts.length !== b.parts.length) return false;
  return a.parts.every(([name, ns], i) => b.parts[i][0] === name && Math.abs(b.parts[i][1] - ns) <= 0.005 * plan.length);
}

/// The ranks in runs of neighbours that are alike; a run is as long as it can be.
export function runsOf(plan) {
  const runs = [];
  for (const device of plan.devices) {
    const run = runs.at(-1);
    if (run && alike(plan, run[0], device)) run.push(device);
    else runs.push([device]);
  }
  return runs.flatMap((run) => (run.length < kFoldedRun ? run.map((device) => [device]) : [run]));
}

export function foldsAtFirst(plan) {
  return plan.devices.length > kManyDevices && runsOf(plan).length < plan.devices.length;
}

/// Lays out rows as high as there is room, within readable limits: { rows, height, titles }.
export function layOut(plans, { folded, opened, available, low }) {
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
    const layout = layoutFor(plan, (available - besides) / count, low);
    for (const devices of panels[p]) {
      rows.push({ plan, panel: p, devices, device: devices[0], y, ...layout });
      y += layout.height;
    }
    if (plans.length > 1) y += kPanelGap;
  });
  return { rows, titles, height: y };
}

function rowsOf(plan, folded) {
  return folded ? runsOf(plan) : plan.devices.map((device) => [device]);
}

/// The highest of a plan's layouts that leaves room for all rows, but none below what can be read.
function layoutFor(plan, share, low) {
  const least = plan.devices.length > kManyDevices ? 20 : low;
  const layouts = plan.layouts.filter(({ height }) => height >= least);
  const fitting = layouts.filter(({ height }) => height <= share);
  return fitting.at(-1) ?? layouts[0] ?? plan.layouts.at(-1);
}

/// The name of a row: "rank 3", "ranks 1 to 998".
export function nameOf(row) {
  const { devices } = row;
  return devices.length === 1 ? row.device.name : `ranks ${devices[0].rank} to ${devices.at(-1).rank}`;
}

/// Draws the words beside a row, and a bar of where its step goes.
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
  pen.text(8, first, nameOf(row), two && !narrow ? 1.2 * letter : small, text);
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

/// A bar cut by the shares of the parts of a rank's step.
export function drawStepBar(pen, device, x, y, width, height, theme) {
  const step = device.parts.reduce((sum, [, ns]) => sum + ns, 0);
  let before = 0;
  for (const [, ns, light, dark] of device.parts) {
    pen.area(x + (width * before) / step, y, (width * ns) / step, height, theme === "dark" ? dark : light);
    before += ns;
  }
}
