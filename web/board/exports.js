/** Exports of the board, as menu entries: `choices(stage, room)` for a <board-menu>. */

import { notify } from "../house/house.js";
import { picture } from "./picture.js";

function save(blob, ending) {
  const link = document.createElement("a");
  const url = URL.createObjectURL(blob);
  link.href = url;
  link.download = `board-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function savePicture({ shown }) {
  picture(shown.root).toBlob((blob) => (blob ? save(blob, "png") : notify("The board is too large for a picture.")));
}

function saveState({ shown }, room) {
  const board = { room, saved: new Date().toISOString(), components: shown.state() };
  save(new Blob([JSON.stringify(board, null, 2)], { type: "application/json" }), "json");
}

export function choices(stage, room) {
  return [["Export as PNG", () => savePicture(stage)], ["Export as JSON", () => saveState(stage, room)]];
}
