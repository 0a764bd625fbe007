/** The icons of all pages, 16 by 16. Each state has a shape of its own, so that states do not differ by colour alone.
*/

import { svg } from "./element.js";

const disc = "M8 4.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7z";

const shapes = {
  disc: { solid: disc },
  ring: { line: disc },
  half: { line: disc, solid: "M8 4.5a3.5 3.5 0 0 1 0 7z" },
  again: { line: "M12.5 8A4.5 4.5 0 1 1 11 4.65M12.5 2.5v2.75h-2.75" },
  bars: { line: "M6 4.5v7M10 4.5v7" },
  square: { line: "M5 5h6v6h-6z" },
  block: { line: "M5 5h6v6h-6z", solid: "M5 5h6v6h-6z" },
  alarm: { line: "M8 3l5.5 9.5h-11zM8 6.75v2.5M8 11v.01" },
  cross: { line: "M5 5l6 6M11 5l-6 6" },
  twist: { line: "M6.5 5l3 3l-3 3" },
  play: { solid: "M6 4l6 4l-6 4z" },
  search: { line: "M7 3.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 1 1 0-7zM9.5 9.5l3.25 3.25" },
  copy: { line: "M6.5 6.5h6v6h-6zM9.5 6.5v-3h-6v6h3" },
  unfold: { line: "M5 6l3-3l3 3M5 10l3 3l3-3" },
  fold: { line: "M5 3l3 3l3-3M5 13l3-3l3 3" },
  more: { solid: "M2.6 8a1.2 1.2 0 1 1 0 .01zM6.8 8a1.2 1.2 0 1 1 0 .01zM11 8a1.2 1.2 0 1 1 0 .01z" },
  down: { line: "M8 3v9M4.5 8.5L8 12l3.5-3.5" },
  up: { line: "M8 13V4M4.5 7.5L8 4l3.5 3.5" },
  plus: { line: "M8 3.5v9M3.5 8h9" },
  lock: { line: "M4.5 7.5h7v5h-7zM6 7.5V6a2 2 0 0 1 4 0v1.5" },
  back: { line: "M6 4L3 7l3 3M3 7h6.5a3 3 0 0 1 0 6H7" },
  pen: { line: "M3.5 12.5l.6-2.6L10.5 3.5l2 2L6.1 11.9z" },
  check: { line: "M3.5 8.5l3 3l6-6.5" },
  clock: { line: "M8 3a5 5 0 1 1 0 10a5 5 0 1 1 0-10zM8 5.25V8l2 1.5" },
  stack: { line: "M3.5 5.5L8 3.25l4.5 2.25L8 7.75zM3.5 8L8 10.25L12.5 8M3.5 10.5L8 12.75l4.5-2.25" },
  list: { line: "M6 4.5h7M6 8h7M6 11.5h7M3 4.5v.01M3 8v.01M3 11.5v.01" },
  out: { line: "M9 3.5h3.5V7M12.5 3.5L7.5 8.5M7 4.5H4v7.5h7.5V9" },
  help: {
    line: "M8 2.75a5.25 5.25 0 1 1 0 10.5a5.25 5.25 0 1 1 0-10.5zM6.5 6.5q0-1.5 1.5-1.5t1.5 1.4q0 1-1.5 1.7v.4" +
      "M8 10.75v.01",
  },
  sliders: { line: "M3 5h5M11 5h2M3 11h2M8 11h5M9.5 3.5v3M6.5 9.5v3" },
  pilcrow: { line: "M12.5 3.5H7a2.5 2.5 0 0 0 0 5h1.5M8.5 3.5v9M11 3.5v9" },
  eye: { line: "M2 8q6-8 12 0q-6 8-12 0zM8 6.75a1.25 1.25 0 1 1 0 2.5a1.25 1.25 0 1 1 0-2.5z" },
  sun: {
    line: "M8 5.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5zM8 2v1M8 13v1M2 8h1M13 8h1" +
      "M3.75 3.75l.7.7M11.55 11.55l.7.7M3.75 12.25l.7-.7M11.55 4.45l.7-.7",
  },
  moon: { line: "M12.5 9.5a5 5 0 1 1-6-6a4 4 0 0 0 6 6z" },
  auto: { line: "M8 3a5 5 0 1 1 0 10a5 5 0 1 1 0-10z", solid: "M8 3a5 5 0 0 1 0 10z" },
};

/** Makes an icon. `turn(icon, name)` changes it into another one. */
export function icon(name) {
  const drawing = svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { class: "solid" }), svg("path", { class: "line" }));
  turn(drawing, name);
  return drawing;
}

export function turn(drawing, name) {
  if (drawing.dataset.name === name) return;
  drawing.dataset.name = name;
  const { solid = "", line = "" } = shapes[name];
  drawing.children[0].setAttribute("d", solid);
  drawing.children[1].setAttribute("d", line);
}
