/**
 * <agent-undo>: what undoing a turn (or doing it again) would do, file by file, and then what it did. A file that is not
 * as the turn left it stays as it is, and says why; the others are restored.
 *
 * Events: "undone" {sentence}.
 */

import { HouseElement, h, icon, put } from "../house/house.js";
import "./diff_view.js";
import { visible } from "./visible.js";

const ACTIONS = { restore: "Restore", delete: "Delete", create: "Make again" };
const OUTCOMES = {
  would: ["ring", "idle", ""],
  done: ["check", "good", "done"],
  refused: ["alarm", "bad", "stays as it is"],
  unchanged: ["check", "idle", "is so already"],
};

class AgentUndo extends HouseElement {
  #title = h("h2");
  #said = h("p.said", { role: "status" });
  #files = h("ul.files");
  #yes = h("button.yes", { type: "button", onclick: () => this.#do() });
  #no = h("button", { type: "button", onclick: () => this.#dialog.close() }, "Leave it");
  #dialog = h("dialog", {}, h("header", {}, this.#title,
    h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close", onclick: () => this.#dialog.close() }, icon("cross"))),
    this.#said, this.#files, h("div.answers", {}, this.#yes, this.#no));
  #redo = false;
  /** @type {((preview: boolean) => Promise<any>) | null} */
  #wish = null;

  build() {
    this.append(this.#dialog);
  }

  /** @param {boolean} redo @param {(preview: boolean) => Promise<any>} wish what is asked of the server */
  async open(redo, wish) {
    this.#redo = redo;
    this.#wish = wish;
    put(this.#title, redo ? "Do it again" : "Undo");
    this.#dialog.ariaLabel = this.#title.textContent;
    put(this.#said, "Looking at the files…");
    this.#files.replaceChildren();
    this.#yes.hidden = true;
    put(this.#no, "Leave it");
    if (!this.#dialog.open) this.#dialog.showModal();
    try {
      const report = await wish(true);
      if (this.#wish === wish) this.#show(report);
    } catch (error) {
      if (this.#wish === wish) put(this.#said, error.message);
    }
  }

  #show({ files = [], message = "" }) {
    const would = files.filter(({ outcome }) => outcome === "would").length;
    const verb = this.#redo ? "Do it again" : "Undo";
    put(this.#said, message || (files.length ? `This is what would be as ${this.#redo ? "after" : "before"} that turn:` : `There is nothing to be ${this.#redo ? "done again" : "undone"}.`));
    this.#list(files);
    this.#yes.hidden = !would;
    this.#yes.disabled = false;
    put(this.#yes, `${verb}: ${would} ${would === 1 ? "file" : "files"}`);
    if (would) this.#yes.focus();
    else this.#no.focus();
  }

  async #do() {
    const wish = this.#wish;
    if (!wish) return;
    this.#yes.disabled = true;
    try {
      const { files = [], message = "" } = await wish(false);
      const refused = files.filter(({ outcome }) => outcome === "refused").length;
      const done = files.filter(({ outcome }) => outcome === "done").length;
      const sentence = message || `${done} ${done === 1 ? "file is" : "files are"} as ${this.#redo ? "after" : "before"} that turn.`;
      if (!refused && done) {
        this.#dialog.close();
        this.announce("undone", { sentence });
        return;
      }
      put(this.#said, sentence);
      this.#list(files);
      this.#yes.hidden = true;
      put(this.#no, "Close");
      this.#no.focus();
    } catch (error) {
      put(this.#said, error.message);
      this.#yes.disabled = false;
    }
  }

  #list(files) {
    this.#files.replaceChildren(...files.map(undoneFile));
  }
}

/** What becomes, or became, of a file. */
export function undoneFile({ file_path: path, action, outcome, reason = "", diff = "" }) {
  const [sign, tone, word] = OUTCOMES[outcome];
  const head = [icon(sign), h("b", {}, ACTIONS[action]), h("code", {}, ...visible(path)), h("span.about", {}, word)];
  const why = reason ? h("p.why", {}, ...visible(reason)) : null;
  if (!diff) return h("li", { "data-tone": tone }, h("p.file", {}, ...head), why);
  const view = /** @type {any} */ (h("agent-diff"));
  view.show({ diff });
  return h("li", { "data-tone": tone }, h("details", { open: true }, h("summary.file", {}, ...head), view), why);
}

customElements.define("agent-undo", AgentUndo);
