/**
 * A scene: the components of one board, by id and in their places. The only tree is that of the document.
 *
 * Rules
 *   - A message that makes no sense leaves the board as it was, and a note at its component says so. (The server has
 *     checked all messages, but some faults only show here.)
 *   - A component whose parent does not exist is put on the board itself, so everything that was spawned is visible.
 *   - A component that moves keeps its element, and with it its pixels, its focus and its draft.
 *   - A new scene is built outside of the document, and replaces the shown one when it is complete. The reader's part
 * of
 *     the state is handed on between components with the same id.
 */

import { mark } from "../house/house.js";
import { BoardButton } from "./button.js";
import { BoardCanvas } from "./canvas.js";
import { BoardColumn, BoardRoot, BoardRow } from "./boxes.js";
import { BoardConsole } from "./console.js";
import { BoardGrid } from "./grid.js";
import { BoardLabel } from "./label.js";
import { BoardMarkdown } from "./markdown.js";
import { BoardTextbox } from "./textbox.js";
import { BoardUnknown } from "./unknown.js";
import { BoardViz } from "./viz.js";

/** @import { Board } from "../messages" */

const KINDS = {
  button: BoardButton,
  canvas: BoardCanvas,
  column: BoardColumn,
  console: BoardConsole,
  grid: BoardGrid,
  label: BoardLabel,
  markdown: BoardMarkdown,
  row: BoardRow,
  textbox: BoardTextbox,
  viz: BoardViz,
};

const CONTROLS = ":is(board-button, board-textbox) > button, board-textbox > input, board-console form > *";
const MUTED = "No script is connected, so this has no effect";

export class Scene {
  /** While components are moved, they may lose the focus. The reader has not done that, so the script is not told. */
  rearranging = false;
  say;
  unheard;

  #note;
  #wake;
  #components = new Map();
  #soiled = new Set();

  /**
   * `say(message)` sends a message to the script; false if it could not. `unheard()` is the reason, if there is no
   * script at all. `note(text)` shows a note that belongs to no component. `wake()` asks for a frame.
   *
   * @param {{say: (message: Board.Event | Board.Fault) => boolean, unheard: () => string, note: (text: string) => void, wake: () => void}} page
   * @param {BoardRoot} root
   */
  constructor({ say, unheard, note, wake }, root = new BoardRoot()) {
    this.say = say;
    this.unheard = unheard;
    this.#note = note;
    this.#wake = wake;
    this.root = root;
    root.begin(this, "column", "root", {});
  }

  get size() {
    return this.#components.size;
  }

  /** @param {Board.Message} message */
  apply(message) {
    this.rearranging = true;
    try {
      if (message.type === "spawn") this.#spawn(message.component, message.target, message.payload ?? {});
      else if (message.type === "update") this.#update(message.target, message.payload);
      else if (message.type === "remove") this.#remove(message.target);
      else if (message.type === "error") this.note(message.src, message.payload?.message);
    } catch (error) {
      this.note("target" in message ? message.target : undefined, error.message);
    } finally {
      this.rearranging = false;
    }
  }

  note(key, text) {
    const component = this.#components.get(key);
    if (component) component.note(String(text));
    else this.#note(String(text));
  }

  /** No script receives input from its controls (`muted`), or one does again. */
  mute(muted) {
    mark(this.root, "data-ended", muted ? "" : null);
    for (const control of this.root.querySelectorAll(CONTROLS)) mark(control, "title", muted ? MUTED : null);
    if (!muted) for (const component of this.#components.values()) component.relieve();
  }

  soil(component) {
    this.#soiled.add(component);
    this.#wake();
  }

  paint() {
    for (const component of this.#soiled) component.paint();
    this.#soiled.clear();
  }

  /** Takes the place of another scene. */
  replace(other) {
    const kept = new Map();
    for (const [key, component] of other.#components) kept.set(key, [component.kind, component.keep()]);
    other.rearranging = true;
    other.root.replaceWith(this.root);
    other.rearranging = false;
    this.paint();
    for (const [key, component] of this.#components) {
      const [kind, own] = kept.get(key) ?? [null, null];
      if (kind === component.kind && own !== null) component.resume(own);
    }
  }

  /** The content of the board, as plain data. */
  state() {
    return this.#states(this.root);
  }

  #states(box) {
    return [...box.children].filter((child) => child.key).map((child) => {
      const own = { component: child.kind, id: child.key, ...child.state() };
      return child.holds ? { ...own, children: this.#states(child) } : own;
    });
  }

  #box(key) {
    const box = key === undefined || key === null || key === "root" ? this.root : this.#components.get(key);
    return box?.holds ? box : null;
  }

  #spawn(kind, key, payload) {
    if (this.#components.has(key)) return;
    const Kind = Object.hasOwn(KINDS, kind) ? KINDS[kind] : BoardUnknown;
    const component = new Kind();
    component.begin(this, kind, key, payload);
    this.#components.set(key, component);
    const box = this.#box(payload.parent) ?? this.root;
    box.insertBefore(component, box.end);
  }

  /**
   * @param {string} key
   * @param {Board.Update["payload"]} payload
   */
  #update(key, payload) {
    const component = this.#components.get(key);
    if (!component) return;
    if (payload?.action === "changeParent") this.#move(component, /** @type {Board.ChangeParent} */ (payload).options ?? {});
    else component.update(payload);
  }

  /**
   * @param {any} component
   * @param {Partial<Board.NewParent>} options
   */
  #move(component, { parent, insertBefore }) {
    const box = this.#box(parent);
    if (!box || component.contains(box)) return;
    const next = this.#components.get(insertBefore);
    const before = next?.parentElement === box ? next : box.end;
    if (before === component) return;
    const keepsAll = "moveBefore" in box && box.isConnected && component.isConnected;
    if (keepsAll) box.moveBefore(component, before);
    else box.insertBefore(component, before);
  }

  #remove(key) {
    const component = this.#components.get(key);
    if (!component) return;
    for (const inner of component.querySelectorAll("[data-id]")) this.#forget(inner);
    this.#forget(component);
    component.remove();
  }

  #forget(component) {
    this.#components.delete(component.key);
    this.#soiled.delete(component);
  }
}
