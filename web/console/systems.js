/** <console-systems>: a card for each system, with its state, a sentence and a link to its page. `systems.show(list)`.
*/

import { HouseElement, h, put, putParts, safeLink } from "../house/house.js";

/** Of systems whose pages are called otherwise than their branch of the tree. */
const TITLES = { ipc: "Desk" };

/** An address stands in one line; where it is longer than that, it breaks before its host and before its port. */
function withAddresses(sentence) {
  const broken = (address) => address.split(/(?<=:\/\/)|(?=:\d+\W*$)/).flatMap((piece, at) => (at ? [h("wbr"), piece] : [piece]));
  return sentence.split(/(https?:\/\/\S+)/).map((part, at) => (at % 2 ? h("span.address", {}, ...broken(part)) : part));
}

class ConsoleSystems extends HouseElement {
  #cards = new Map(); // name -> card
  #empty = h("house-empty", { hidden: true });

  build() {
    this.append(this.#empty);
    this.#empty.say("No systems are configured.");
  }

  /** @param {import("../messages").Console.System[]} systems */
  show(systems) {
    this.#empty.hidden = systems.length > 0;
    const names = new Set(systems.map(({ name }) => name));
    for (const [name, { element }] of this.#cards) {
      if (names.has(name)) continue;
      element.remove();
      this.#cards.delete(name);
    }
    for (const system of systems) {
      if (!this.#cards.has(system.name)) this.#cards.set(system.name, this.#card(system.name));
      this.#paint(this.#cards.get(system.name), system);
    }
  }

  #card(name) {
    const link = h("a.name", {}, TITLES[name] ?? name);
    const pill = h("house-pill");
    const sentence = h("p.sentence");
    const lately = h("p.lately");
    const element = h("article.card", {}, h("header", {}, h("h2", {}, link), pill), sentence, lately);
    this.append(element);
    return { element, link, pill, sentence, lately };
  }

  /**
   * @param {Record<string, any>} card
   * @param {import("../messages").Console.System} system
   */
  #paint({ element, link, pill, sentence, lately }, system) {
    const href = safeLink(system.url);
    if (href) link.href = href;
    else link.removeAttribute("href");
    pill.state = system.state;
    element.dataset.state = system.state;
    putParts(sentence, system.sentence, withAddresses);
    put(lately, system.lately ?? "");
    lately.hidden = !system.lately;
  }
}

customElements.define("console-systems", ConsoleSystems);
