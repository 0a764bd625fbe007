/**
 * A textbox: a line of text that the reader writes. It sends "submit" on Enter and when it loses the focus, but only if
 * the text differs from the value (the text that was last submitted, or set by the script).
 *
 *   the text is            the script sets it      Enter, leaving it      Escape
 *   the value              shows the new value     -                      -
 *   a draft                stays, with a hint      submits it             shows the value
 *
 * So the script cannot overwrite a sentence that the reader is writing: a draft stays until the reader submits it or
 * takes it back.
 *
 * With a `buttonText`, as the text inputs of older scripts have one, there is a button beside it. Then "submit" is sent
 * on Enter and by the button, whatever the text is, and not when the box loses the focus.
 *
 * The server sends a submitted text to every page of the room as the box's new value, so that all pages show the same.
 * The page that has submitted it shows it already.
 */

import { h, inComposition, put } from "../house/house.js";
import { BoardComponent } from "./component.js";

/** @import { Board } from "../messages" */

const LONGEST_HINT = 60; // characters of a value that a hint shows

export class BoardTextbox extends BoardComponent {
  #input = h("input", { type: "text", autocomplete: "off", ariaLabel: "Text" });
  #hint = h("p.hint", { role: "status", hidden: true });
  #said = "";
  #expected = null; // the text that was submitted and has not come back yet
  #submits = () => this.#submitNews();

  actions = {
    setValue: (/** @type {Board.Value} */ { value }) => this.#set(value),
    setPlaceholder: (/** @type {Board.Placeholder} */ { placeholder }) => this.#name(placeholder),
  };

  /** @param {Board.TextboxSpawn & {buttonText?: unknown}} payload */
  spawn({ initialValue, placeholder, buttonText }) {
    const hasButton = typeof buttonText === "string";
    if (hasButton) this.#submits = () => this.#submit();
    this.#input.addEventListener("keydown", (event) => this.#key(event));
    this.#input.addEventListener("input", () => this.#isDraft || this.#remark(""));
    this.append(this.#input);
    if (hasButton) this.append(h("button", { type: "button", onclick: this.#submits }, buttonText || "Submit"));
    else this.#input.addEventListener("blur", () => this.scene.rearranging || this.#submitNews());
    this.append(this.#hint);
    this.#name(placeholder);
    this.#set(initialValue);
  }

  get #isDraft() {
    return this.#input.value !== this.#said;
  }

  #set(value) {
    const text = String(value ?? "");
    const known = text === this.#expected && text === this.#said;
    this.#expected = null;
    if (known || text === this.#said) return;
    const wasDraft = this.#isDraft;
    this.#said = text;
    if (wasDraft) this.#overtake();
    else this.#input.value = text;
  }

  /** Shows the hint: the script has set another value while the reader was writing. */
  #overtake() {
    const { length } = this.#said;
    const quoted = length > LONGEST_HINT ? `${this.#said.slice(0, LONGEST_HINT)}…` : this.#said;
    const what = this.#said ? `set this to “${quoted}”` : "emptied this";
    this.#remark(this.#isDraft ? `The script has ${what} meanwhile. Escape drops your draft for that.` : "");
  }

  #remark(text) {
    put(this.#hint, text);
    this.#hint.hidden = text === "";
  }

  #name(text) {
    this.#input.placeholder = String(text ?? "");
    this.#input.ariaLabel = this.#input.placeholder || "Text";
  }

  #key(event) {
    if (inComposition(event)) return;
    if (event.key === "Enter") this.#submits();
    if (event.key !== "Escape" || !this.#isDraft) return;
    event.preventDefault(); // Escape would also close a dialog or menu around it
    this.#input.value = this.#said;
    this.#remark("");
  }

  #submitNews() {
    if (this.#isDraft) this.#submit();
  }

  #submit() {
    const { value } = this.#input;
    if (!this.event({ event: "submit", value })) return;
    this.#said = this.#expected = value;
    this.#remark("");
  }

  state() {
    return { value: this.#input.value, placeholder: this.#input.placeholder };
  }

  keep() {
    const { value, selectionStart, selectionEnd } = this.#input;
    const focused = document.activeElement === this.#input;
    const draft = this.#isDraft ? value : null;
    return focused || draft !== null ? { draft, said: this.#said, focused, selectionStart, selectionEnd } : null;
  }

  resume({ draft, said, focused, selectionStart, selectionEnd }) {
    if (draft !== null) {
      this.#input.value = draft;
      if (said !== this.#said) this.#overtake();
    }
    if (!focused) return;
    this.#input.focus({ preventScroll: true });
    this.#input.setSelectionRange(selectionStart, selectionEnd);
  }
}

customElements.define("board-textbox", BoardTextbox);
