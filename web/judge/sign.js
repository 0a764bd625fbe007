/** The state in the browser's tab: as an icon, and as a score before the name. `sign.show(panel)`. */

import { mark } from "../house/house.js";
import { standing } from "./sentence.js";

const link = document.querySelector("link[rel=icon]");
const MARKS = { idle: "", info: "… ", good: "✓ ", bad: "✗ " };

export function showSign(panel) {
  if (!panel.problem) {
    document.title = "Judge";
    mark(link, "href", new URL("../house/mark.svg", import.meta.url).href);
    return;
  }
  const { tone, score, done, total } = standing(panel);
  const figure = tone === "info" ? `${done}/${total}` : score;
  document.title = `${MARKS[tone]}${figure ? `${figure} · ` : ""}${panel.problem.name}`;
  mark(link, "href", new URL(tone === "idle" ? "../house/mark.svg" : `sign-${tone}.svg`, import.meta.url).href);
}
