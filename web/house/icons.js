/** The drawn signs of the house, 16 by 16. Each state has a shape of its own, so that none is told by colour alone. */

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
  eye: { line: "M2 8q6-8 12 0q-6 8-12 0zM8 6.75a1.25 1.25 0 1 1 0 2.5a1.25 1.25 0 1 1 0-2.5z" },
  sun: {
    line: "M8 5.5a2.5 2.5 0 1 1 0 5a2.5 2.5 0 1 1 0-5zM8 2v1M8 13v1M2 8h1M13 8h1" +
      "M3.75 3.75l.7.7M11.55 11.55l.7.7M3.75 12.25l.7-.7M11.55 4.45l.7-.7",
  },
  moon: { line: "M12.5 9.5a5 5 0 1 1-6-6a4 4 0 0 0 6 6z" },
  auto: { line: "M8 3a5 5 0 1 1 0 10a5 5 0 1 1 0-10z", solid: "M8 3a5 5 0 0 1 0 10z" },
};

/** An icon; `turn(icon, name)` makes it another. */
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
