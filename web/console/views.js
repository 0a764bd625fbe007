/** The tabs that replace the columns on a narrow page. They only say which view is in front; CSS does the rest. */

import { format, h, mark, put } from "../house/house.js";

const VIEWS = [["tree", "Tree"], ["systems", "Systems"], ["crashes", "Crashes"], ["stops", "Stops"], ["dead", "Dead letters"],
  ["departures", "Gone"]];

export class Views {
  #tabs = new Map();

  constructor(list) {
    for (const [view, label] of VIEWS) {
      const badge = h("b.badge");
      const onclick = () => this.turnTo(view);
      const names = { id: `tab-${view}`, "aria-controls": `view-${view}` };
      const tab = h("button", { type: "button", role: "tab", ...names, onclick }, label, " ", badge);
      this.#tabs.set(view, { tab, badge });
      list.append(tab);
    }
    list.addEventListener("keydown", (event) => this.#key(event));
    this.turnTo("tree");
  }

  turnTo(view) {
    document.body.dataset.view = view;
    for (const [name, { tab }] of this.#tabs) {
      mark(tab, "aria-selected", name === view);
      tab.tabIndex = name === view ? 0 : -1;
    }
  }

  count(view, number) {
    put(this.#tabs.get(view).badge, number ? format.count(number) : "");
  }

  #key({ key }) {
    const names = [...this.#tabs.keys()];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const view = names.at((names.indexOf(document.body.dataset.view) + step) % names.length);
    this.turnTo(view);
    this.#tabs.get(view).tab.focus();
  }
}
