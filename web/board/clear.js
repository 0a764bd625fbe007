/**
 * Asks before the board is cleared, and says what will be lost, so that it cannot happen by accident. The focus is on
 * Cancel at first. `askToClear(scripts)` resolves to true if the reader agrees.
 */

import { h } from "../house/house.js";

const WHOSE = ["No script is connected.", "The connected script is told, and has to draw again."];

export function askToClear(scripts) {
  const told = WHOSE[scripts] ?? `The ${scripts} connected scripts are told, and have to draw again.`;
  const cancel = h("button", { type: "submit", value: "", autofocus: true }, "Cancel");
  const clear = h("button.danger", { type: "submit", value: "clear" }, "Clear board");
  const words = h("p", {}, "This removes everything on it, for all its viewers. ", told);
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
