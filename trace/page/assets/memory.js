// The memory of a device over time: stacked classes, or a strip of colour in a low row.
import { mixed } from "./bars.js";
import { firstAfter } from "./plan.js";

const kShades = 32;

/// Draws the memory of a lane's device into its band. `scale` is { top, limit } in bytes.
export function drawMemory(pen, lane, scale, heat) {
  pen.area(lane.x, lane.y, lane.width, lane.height, lane.look.ground.lane);
  const { first, last } = lane.device.memorySteps;
  if (last === first) return;
  if (heat) drawHeat(pen, lane, scale);
  else drawCurve(pen, lane, scale);
}

/// Calls visit(column, step) with the step of the greatest memory in each column.
function eachColumn(lane, visit) {
  const { plan, device, axis } = lane;
  const { first, last } = device.memorySteps;
  let next = firstAfter(plan.memoryAt, first, last, axis.begin);
  const columns = Math.round(lane.width);
  const held = heldOf(plan);
  const times = plan.memoryAt;
  for (let x = 0; x < columns; ++x) {
    const end = axis.at(x + 1);
    let greatest = next > first ? next - 1 : -1;
    for (; next < last && times[next] < end; ++next) if (greatest < 0 || held[next] > held[greatest]) greatest = next;
    visit(x, greatest);
  }
}

/// The memory of each step, summed over the classes, in units.
function heldOf(plan) {
  if (!plan.held) {
    plan.held = new Float64Array(plan.memoryAt.length);
    for (const column of plan.bytesByClass) for (let i = 0; i < column.length; ++i) plan.held[i] += column[i];
  }
  return plan.held;
}

/// The greatest memory of any device of a plan, in bytes.
export function greatestHeld(plan) {
  plan.greatest ??= heldOf(plan).reduce((most, held) => Math.max(most, held), 1) * plan.memory_unit;
  return plan.greatest;
}

function drawHeat(pen, lane, scale) {
  const { ground } = lane.look;
  const full = scale.limit ?? scale.top;
  let from = 0;
  let now = null;
  const end = (x) => {
    if (now !== null && x > from) pen.area(lane.x + from, lane.y, x - from, lane.height, now);
  };
  eachColumn(lane, (x, step) => {
    const held = step < 0 ? 0 : heldOf(lane.plan)[step] * lane.plan.memory_unit;
    const shade = Math.min(Math.round((kShades * held) / full), kShades) / kShades;
    const colour = scale.limit !== null && held > scale.limit ? ground.warning : mixed(ground.lane, ground.edge, shade);
    if (colour === now) return;
    end(x);
    [from, now] = [x, colour];
  });
  end(Math.round(lane.width));
}

function drawCurve(pen, lane, scale) {
  const { plan, look, words } = lane;
  const columns = Math.round(lane.width);
  const tops = words.stacked.map(() => new Float32Array(columns));
  const greatest = new Float32Array(columns);
  const occurs = words.stacked.map(() => false);
  let tooMuch = false;
  const yOf = (bytes) => memoryY(lane, scale, bytes);
  eachColumn(lane, (x, step) => {
    let sum = 0;
    words.stacked.forEach((held, place) => {
      const units = step < 0 ? 0 : plan.bytesByClass[held][step];
      sum += units;
      occurs[place] ||= units > 0;
      tops[place][x] = yOf(sum * plan.memory_unit);
    });
    greatest[x] = yOf(sum * plan.memory_unit);
    tooMuch ||= scale.limit !== null && sum * plan.memory_unit > scale.limit;
  });
  let edge = look.ground.edge;
  for (let place = words.stacked.length - 1; place >= 0; --place) {
    if (!occurs[place]) continue;
    pen.steps(lane.x, tops[place], lane.y + lane.height, look.ground.memory[words.stacked[place]], edge);
    edge = null;
  }
  if (!tooMuch) return;
  const limit = yOf(scale.limit);
  pen.clipped(lane.x, lane.y, lane.width, limit - lane.y, () =>
    pen.steps(lane.x, greatest, lane.y + lane.height, look.ground.warning));
}

export function memoryY(lane, scale, bytes) {
  return lane.y + lane.height * (1 - Math.min(bytes / Math.max(scale.top, 1), 1));
}

/// Bytes by class at an instant.
export function memoryAt(plan, device, at) {
  const { first, last } = device.memorySteps;
  const step = firstAfter(plan.memoryAt, first, last, at) - 1;
  return plan.bytesByClass.map((column) => (step < first ? 0 : column[step] * plan.memory_unit));
}
