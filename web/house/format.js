/** Formats numbers, amounts and times. Pure. With tabular figures, the width of a changing number stays the same. */

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1, minimumFractionDigits: 1 });
const clockForm = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export function count(value) {
  return Math.abs(value) < 1e6 ? plain.format(value) : short.format(value);
}

/** Messages per second, with tenths if the number is small. */
export function rate(value) {
  if (value === 0) return "0";
  if (value < 0.05) return "<0.1";
  return value < 99.95 ? value.toFixed(1) : count(value);
}

export function bytes(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (value >= 999.5 && step < units.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${value < 99.95 && step > 0 ? value.toFixed(1) : value.toFixed(0)} ${units[step]}`;
}

/** A short duration, such as lag. */
export function brief(seconds) {
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(1)} s`;
}

/** A duration in its two largest units. */
export function span(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  /** @type {[size: number, unit: string][]} */
  const steps = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = steps.findIndex(([size]) => whole >= size);
  if (first === -1) return "0 s";
  const parts = [];
  let rest = whole;
  for (const [size, unit] of steps.slice(first, first + 2)) {
    const amount = Math.floor(rest / size);
    if (amount) parts.push(`${amount} ${unit}`);
    rest %= size;
  }
  return parts.join(" ");
}

/** A time in the past, in one unit, for narrow columns: "12 s ago". */
export function ago(seconds) {
  return seconds < 1 ? "just now" : `${span(seconds).split(" ").slice(0, 2).join(" ")} ago`;
}

/** Local time of day of a Unix time. */
export function clock(at) {
  return clockForm.format(at * 1000);
}

/** Local date and time to the millisecond. */
export function exact(at) {
  const moment = new Date(at * 1000);
  const two = (value) => String(value).padStart(2, "0");
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day} ${clock(at)}.${String(moment.getMilliseconds()).padStart(3, "0")}`;
}
