/** CSS colours as scripts name them: whether the browser knows one, and whether dark or light text reads better on it.
*/

import { must } from "../house/house.js";

const MOST = 4096;
const known = new Map();
const context = must(new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }), "canvas");

function look(name) {
  context.fillStyle = "#000";
  context.fillStyle = name;
  const first = context.fillStyle;
  context.fillStyle = "#fff";
  context.fillStyle = name;
  if (context.fillStyle !== first) return null;
  context.fillStyle = "#888";
  context.fillRect(0, 0, 1, 1);
  context.fillStyle = name;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data.slice(0, 3).map(linear);
  return { fill: first, ink: 0.2126 * red + 0.7152 * green + 0.0722 * blue > 46 ? "#111" : "#fff" };
}

/** The linear amount of light of a colour component from 0 to 255. */
function linear(part) {
  return 255 * (part / 255) ** 2.2;
}

/** {fill, ink} of a colour; null if the text is no colour. */
export function colour(name) {
  if (typeof name !== "string" || name === "") return null;
  if (!known.has(name)) {
    if (known.size >= MOST) known.clear();
    known.set(name, look(name));
  }
  return known.get(name);
}
