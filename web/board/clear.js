/**
 * Clearing the board: asked once, in words that say what goes, so that it cannot happen by a slip. The keyboard begins
 * at Cancel. `askToClear(scripts)` comes to true if it is wanted.
 */

import { h } from "../house/house.js";

const WHOSE = ["No script is connected.", "The script that is connected is told, and has to draw anew."];

export function askToClear(scripts) {
  const told = WHOSE[scripts] ?? `The ${scripts} scripts that are connected are told, and have to draw anew.`;
  const cancel = h("button", { type: "submit", value: "", autofocus: true }, "Cancel");
  const clear = h("button.danger", { type: "submit", value: "clear" }, "Clear board");
  const words = h("p", {}, "Everything on it goes, for everyone who is looking at it. ", told);
  const form = h("form", { method: "dialog" }, h("h2", {}, "Clear this board?"), words, h("div.choices", {}, cancel, clear));
  const dialog = h("dialog.ask", { ariaLabel: "Clear this board?" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => {
      dialog.remove();
      resolve(dialog.returnValue === "clear");
    };
  });
}
