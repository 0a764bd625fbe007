/**
 * <agent-sessions>: the workspaces, and the sessions of the chosen one, newest change first. What others change shows
 * within seconds: the lists are asked for again while the page is looked at. Who stands on a row that goes, whoever has
 * deleted it, stands then on the one that took its place.
 *
 * Events: "choose" {id}, "workspace" {id}, "register", "create", "search", "rename" {id, title}, "delete" {session}.
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";

class AgentSessions extends HouseElement {
  #select = h("select", { ariaLabel: "Workspace", onchange: () => this.announce("workspace", { id: this.#select.value }) });
  #add = h("button.quiet", { type: "button", title: "Add a folder", ariaLabel: "Add a folder",
    onclick: () => this.announce("register") }, icon("plus"));
  #create = h("button.create", { type: "button", onclick: () => this.announce("create") }, "New session", h("kbd", { ariaHidden: "true" }, "n"));
  #search = h("button.search", { type: "button", onclick: () => this.announce("search") }, "Search", h("kbd", { ariaHidden: "true" }, "/"));
  #missing = h("p.missing", { hidden: true, role: "status" });
  #list = h("ul", { ariaLabel: "Sessions" });
  #none = h("p.none", { hidden: true }, "No sessions yet.");
  #sessions = [];
  #chosen = null;
  /** The folders, as they were drawn last: a list that is being looked at stays. */
  #folders = "";

  build() {
    this.append(h("div.workspaces", {}, this.#select, this.#add), this.#missing, this.#create, this.#search, this.#list, this.#none);
    this.#list.addEventListener("click", (event) => this.#clicked(event));
    this.#list.addEventListener("keydown", (event) => this.#moved(event));
  }

  showWorkspaces(workspaces, chosen) {
    const folders = JSON.stringify(workspaces.map(({ id, name, path }) => [id, name, path]));
    if (folders !== this.#folders) this.#listFolders(workspaces);
    this.#folders = folders;
    this.#select.value = chosen ?? "";
    this.#select.disabled = this.#create.disabled = this.#search.disabled = !workspaces.length;
    const missing = workspaces.find(({ id }) => id === chosen)?.missing;
    put(this.#missing, missing ? "This folder is not there now. Its sessions can be read." : "");
    this.#missing.hidden = !missing;
  }

  #listFolders(workspaces) {
    const options = workspaces.map(({ id, name, path }) => h("option", { value: id, title: path }, name || path));
    this.#select.replaceChildren(...(options.length ? options : [h("option", { value: "" }, "No folder yet")]));
  }

  show(sessions, chosen) {
    this.#sessions = sessions;
    this.#chosen = chosen;
    const rows = new Map([...this.#list.children].map((row) => [row.dataset.id, row]));
    const wanted = sessions.map((session) => {
      const row = rows.get(session.id) ?? this.#row(session.id);
      this.#fill(row, session);
      return row;
    });
    if (wanted.some((row, at) => this.#list.children[at] !== row) || wanted.length !== rows.size) {
      const focused = document.activeElement;
      const place = [...this.#list.children].findIndex((row) => row.contains(focused));
      this.#list.replaceChildren(...wanted);
      if (focused instanceof HTMLElement && this.contains(focused)) focused.focus();
      else if (place !== -1) this.focusAt(place);
    }
    this.#none.hidden = sessions.length > 0;
  }

  /** Where it stands in the list. */
  placeOf(id) {
    return this.#sessions.findIndex((each) => each.id === id);
  }

  /** The session beside the chosen one. */
  step(rows) {
    const at = this.#sessions.findIndex(({ id }) => id === this.#chosen);
    const next = this.#sessions[at + rows];
    if (next) this.announce("choose", { id: next.id });
  }

  /** Where one goes on after a session has gone: at the one that took its place, or at the button for a new one. */
  focusAt(place) {
    const row = this.#list.children[Math.min(Math.max(place, 0), this.#list.childElementCount - 1)];
    const button = /** @type {HTMLElement} */ (row?.querySelector(".open") ?? this.#create);
    button.focus();
  }

  focus() {
    (this.#select.disabled ? this.#add : this.#create).focus();
  }

  #row(id) {
    const button = (act, sign, label) =>
      h("button.quiet", { type: "button", title: label, ariaLabel: label, "data-act": act }, icon(sign));
    return h("li", { "data-id": id },
      h("button.open", { type: "button", "data-act": "choose" }, h("span.title", { dir: "auto" }), h("span.about", {}, h("house-pill"), h("span.when"))),
      h("span.acts", {}, button("rename", "pen", "Rename"), button("delete", "cross", "Delete")));
  }

  #fill(row, session) {
    const { title, updated_at: updated, running, pending_approvals: pending, status } = session;
    const name = title || "New session";
    put(row.querySelector(".title"), name);
    for (const [act, verb] of [["rename", "Rename"], ["delete", "Delete"]]) {
      mark(row.querySelector(`[data-act=${act}]`), "aria-label", `${verb}: ${name}`);
    }
    put(row.querySelector(".when"), format.ago(Math.max(0, (Date.now() - Date.parse(updated)) / 1000)));
    const said = pending ? ["alarm", "warn", pending > 1 ? `asks you · ${pending}` : "asks you"] : running ? ["half", "info", "running"]
      : status === "error" ? ["alarm", "bad", "failed"] : null;
    const pill = row.querySelector("house-pill");
    pill.hidden = !said;
    if (said) pill.said = said;
    mark(row.querySelector(".open"), "aria-current", session.id === this.#chosen ? "true" : null);
  }

  #clicked(event) {
    const act = event.target.closest("[data-act]")?.dataset.act;
    const id = event.target.closest("li")?.dataset.id;
    const session = this.#sessions.find((each) => each.id === id);
    if (act && session) this.announce(act, { id, session });
  }

  #moved(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("li");
    if (!step || !row) return;
    event.preventDefault();
    const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
    next?.querySelector(".open").focus();
  }
}

customElements.define("agent-sessions", AgentSessions);
