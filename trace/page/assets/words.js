// Numbers in the formats of the reports.

/// Like C's %.<digits>g, which rounds ties to the even digit.
export function general(value, digits) {
  const [mantissa, power] = toEven(value, digits).split("e").map(Number);
  if (value === 0 || (power >= -4 && power < digits)) return String(Number(`${mantissa}e${power}`));
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/// Like toExponential(), which rounds ties up.
function toEven(value, digits) {
  const [exact, power] = value.toExponential(40).split("e");
  const end = exact.indexOf(".") + digits;
  const [kept, rest] = [exact.slice(0, end), exact.slice(end)];
  const isTie = /^50*$/.test(rest) && "02468".includes(kept.at(-1));
  return isTie ? `${kept}e${power}` : value.toExponential(digits - 1);
}

/// Like C's %.<decimals>f, which rounds ties to the even digit.
export function fixed(value, decimals) {
  const scaled = Math.abs(value) * 10 ** decimals;
  const text = value.toFixed(decimals);
  if (scaled % 1 !== 0.5 || Math.floor(scaled) % 2 === 1) return text;
  return (Math.sign(value) * Math.floor(scaled) / 10 ** decimals).toFixed(decimals);
}

const kTimeUnits = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

function timeUnitOf(ns) {
  return kTimeUnits.find(([length]) => Math.abs(ns) >= length) ?? kTimeUnits[3];
}

/// "1.234 ms" for nanoseconds.
export function timeText(ns) {
  const [length, name] = timeUnitOf(ns);
  return length === 1 ? `${ns} ns` : `${general(ns / length, 4)} ${name}`;
}

/// The same with three digits, for plates on bubbles.
export function shortTimeText(ns) {
  let unit = 1;
  while (Math.floor(ns / unit) >= 1000) unit *= 10;
  return timeText(Math.floor((ns + Math.floor(unit / 2)) / unit) * unit);
}

export function percent(share) {
  return `${fixed(100 * share, 1)} %`;
}

const kGib = 1024 ** 3;

export function gibText(bytes) {
  return fixed(bytes / kGib, 2);
}

export function sizeText(bytes) {
  const mib = bytes / 1024 ** 2;
  return mib >= 1024 ? `${gibText(bytes)} GiB` : `${general(mib, 4)} MiB`;
}

/// Ticks of an axis at 1, 2 or 5 times a power of ten, at least `least` pixels apart.
export function ticksOf(begin, end, width, least) {
  const most = Math.max(1, Math.floor(width / least) - 1);
  const distance = tickDistance(end - begin, most);
  const [unit, name] = timeUnitOf(Math.max(end, -begin));
  const parts = unit / distance;
  const decimals = parts > 1 ? Math.ceil(Math.log10(parts) - 1e-9) : 0;
  const ticks = [];
  for (let at = Math.ceil(begin / distance) * distance; at <= end; at += distance)
    ticks.push({ at, text: `${(at / unit).toFixed(decimals)} ${name}` });
  return ticks;
}

function tickDistance(length, most) {
  for (let unit = 1; unit <= 1e17; unit *= 10)
    for (const step of [1, 2, 5])
      if (Math.floor(length / (step * unit)) <= most) return step * unit;
  return length;
}

/// A template filled with an action's numbers: "%0F%1" with 2 and 3 is "2F3".
export function filled(template, numbers, first = 0) {
  return template.replace(/%(\d)/g, (_, place) => numbers[first + Number(place)]);
}
