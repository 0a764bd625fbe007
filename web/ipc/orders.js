/**
 * What the reader can have done: requeue, cancel, archive, and end or launch the editor. Each is one POST; what came of
 * it passes by as a notice.
 * <desk-question> asks before something that concerns many.
 */

import { HouseElement, h, notify, put } from "../house/house.js";
import { requests } from "./states.js";

const DONE = { requeue: "requeued", cancel: "cancelled", archive: "moved to the archive" };

/**
 * @param {"requeue" | "cancel" | "archive"} what
 * @param {object} selection
 */
export async function order(what, selection) {
  const handled = await post(what, selection);
  if (handled === null) return;
  const { ids, refused = {} } = handled;
  const reasons = Object.entries(refused);
  if (ids.length || !reasons.length) {
    const which = ids.length === 1 ? `Request ${ids[0]}` : requests(ids.length);
    notify(ids.length ? `${which} ${DONE[what]}.` : "There was nothing to be done.");
  }
  for (const [id, why] of reasons.slice(0, 2)) notify(`${id}: ${why}`);
  if (reasons.length > 2) notify(`${requests(reasons.length - 2)} more could not be ${DONE[what]}.`);
}

/** @param {"stop" | "start"} wanted */
export async function orderEditor(wanted) {
  const answer = await post("editor", { order: wanted });
  if (answer !== null) notify(answer.editor);
}

/** What is answered; null: it was refused, and the reader has been told. */
async function post(what, body) {
  let answer;
  try {
    answer = await fetch(what, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    notify("The server could not be reached. Nothing was done.");
    return null;
  }
  if (answer.ok) return answer.json();
  notify((await answer.text()).trim());
  return null;
}

class DeskQuestion extends HouseElement {
  #title = h("h2");
  #sentence = h("p");
  #extra = h("div.extra");
  #yes = h("button.yes", { type: "submit", value: "yes" });
  #dialog = h("dialog", {},
    h("form", { method: "dialog" }, this.#title, this.#sentence, this.#extra,
      h("div.answers", {}, this.#yes, h("button", { type: "submit", value: "no" }, "Leave it"))));

  build() {
    this.append(this.#dialog);
  }

  /**
   * Whether the reader agrees. `extra` is shown below the sentence.
   *
   * @param {{title: string, sentence: string, verb: string, extra?: Node | null}} question
   * @returns {Promise<boolean>}
   */
  ask({ title, sentence, verb, extra = null }) {
    put(this.#title, title);
    put(this.#sentence, sentence);
    put(this.#yes, verb);
    this.#dialog.ariaLabel = title;
    this.#extra.replaceChildren(...(extra ? [extra] : []));
    this.#dialog.returnValue = "no";
    this.#dialog.showModal();
    return new Promise((resolve) => {
      this.#dialog.addEventListener("close", () => resolve(this.#dialog.returnValue === "yes"), { once: true });
    });
  }
}

customElements.define("desk-question", DeskQuestion);
