/**
 * A textbox: a line the reader writes. It says "submit" on Enter and when it is left, but only if the text is not what
 * was said or set last. What the script sets takes the place of a draft.
 *
 * With a `buttonText`, as the text inputs of older scripts have one, there is a button beside it: then "submit" is said
 * on Enter and by the button, whatever the text, and not when the box is left.
 *
 * The server hands what is submitted back to every page of the room as the box's value, so that they all show the same.
 * To the page that has said it, that is no news: a draft that was begun since stays.
 */

import { h } from "../house/house.js";
import { BoardComponent } from "./component.js";

export class BoardTextbox extends BoardComponent {
  #input = h("input", { type: "text", autocomplete: "off", ariaLabel: "Text" });
  #said = "";
  #expected = null; // what was submitted and has not come back yet

  actions = {
    setValue: ({ value }) => this.#set(value),
    setPlaceholder: ({ placeholder }) => this.#hint(placeholder),
  };

  spawn({ initialValue, placeholder, buttonText }) {
    const hasButton = typeof buttonText === "string";
    const enter = hasButton ? () => this.#submit() : () => this.#submitNews();
    this.#input.onkeydown = ({ key, isComposing }) => key === "Enter" && !isComposing && enter();
    this.append(this.#input);
    if (hasButton) this.append(h("button", { type: "button", onclick: enter }, buttonText || "Submit"));
    else this.#input.onblur = () => this.scene.rearranging || this.#submitNews();
    this.#hint(placeholder);
    this.#set(initialValue);
  }

  #set(value) {
    const text = String(value ?? "");
    const known = text === this.#expected && text === this.#said;
    this.#expected = null;
    if (!known) this.#said = this.#input.value = text;
  }

  #hint(text) {
    this.#input.placeholder = String(text ?? "");
    this.#input.ariaLabel = this.#input.placeholder || "Text";
  }

  #submitNews() {
    if (this.#input.value !== this.#said) this.#submit();
  }

  #submit() {
    const { value } = this.#input;
    if (this.event({ event: "submit", value })) this.#said = this.#expected = value;
  }

  state() {
    return { value: this.#input.value, placeholder: this.#input.placeholder };
  }

  /** A box holds a draft while it is being written in; leaving it is saying it, unless nobody could be told. */
  keep() {
    const { value, selectionStart, selectionEnd } = this.#input;
    const focused = document.activeElement === this.#input;
    return focused || value !== this.#said ? { value, focused, selectionStart, selectionEnd } : null;
  }

  resume({ value, focused, selectionStart, selectionEnd }) {
    this.#input.value = value;
    if (!focused) return;
    this.#input.focus({ preventScroll: true });
    this.#input.setSelectionRange(selectionStart, selectionEnd);
  }
}

customElements.define("board-textbox", BoardTextbox);
