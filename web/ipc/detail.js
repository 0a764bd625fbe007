/**
 * <desk-detail>: one request: its state, what was asked, each attempt with its answer side by side, and what is said of it.
 * `detail.await(id)`, `detail.show(message, now)`, `detail.gone()`. Announces "close" and "order" {what, id}.
 */

import { HouseElement, copy, format, h, icon, mark, put } from "../house/house.js";
import { FAILED, OPEN, STATES, lasted } from "./states.js";
import { toneOf } from "./timeline.js";

/** @import { Desk } from "../messages" */

const SIGNS = { good: ["check", "good", "success"], bad: ["cross", "bad", "failed"], info: ["half", "info", "under way"] };
const LONG = 20_000; // characters of one text that are laid out before the reader asks for all

const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g; // they would turn round what stands beside them, too

/** As a person reads it: a text as it is, anything else as JSON. */
function written(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text?.replace(DIRECTIONS, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
}

/** A long text, of which the beginning is shown; the button shows the rest. */
function text(value, label) {
  const whole = written(value) ?? "nothing";
  const body = h("pre", { tabIndex: 0, ariaLabel: label }, whole.slice(0, LONG));
  if (whole.length <= LONG) return [body];
  const more = h("button.link", { type: "button", onclick: () => (put(body, whole), more.remove()) },
    `Show all ${format.count(whole.length)} characters`);
  return [body, more];
}

/** A note, with its moments by the reader's own clock, as all others on the page are. */
function locally(/** @type {string} */ note) {
  return note.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (at) => format.exact(Date.parse(at) / 1000).slice(0, 19));
}

function quiet(/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ onclick) {
  return h("button.quiet", { type: "button", title: label, ariaLabel: label, onclick }, icon(sign));
}

class DeskDetail extends HouseElement {
  /** @type {string | null} */
  #id = null;
  #shown = "";
  /** @type {Desk.RequestDetail | null} */
  #detail = null;
  #name = h("h2");
  #pill = h("house-pill");
  #since = h("span.since");
  #missing = h("house-empty");
  #buttons = /** @type {const} */ (["requeue", "cancel", "archive"]).map((what) => ({
    what,
    button: h("button", { type: "button", onclick: () => this.announce("order", { what, id: this.#id }) },
      what[0].toUpperCase() + what.slice(1)),
  }));
  #close = quiet("cross", "Close", () => this.announce("close"));
  #timeline = h("desk-timeline");
  #attempts = h("ol.attempts");
  #facts = h("dl.facts");
  #notes = h("ul.notes");
  #params = h("div.params");
  #evaluation = h("div.evaluation");
  #body = h("div.body", {},
    h("div.actions", {}, ...this.#buttons.map(({ button }) => button)),
    this.#timeline, this.#notes, this.#attempts, this.#facts, this.#params, this.#evaluation);

  build() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Chosen request");
    this.append(
      h("header", {}, this.#name, quiet("copy", "Copy id", () => this.#copy()), this.#close),
      h("p.standing", {}, this.#pill, this.#since), this.#missing, this.#body);
  }

  /** The request that is to be shown as soon as it comes; null: none. */
  await(id) {
    this.hidden = id === null;
    if (id === this.#id) return;
    this.#id = id;
    this.#shown = "";
    this.#detail = null;
    this.#body.hidden = true;
    this.#missing.hidden = false;
    this.#missing.say("Looking it up…");
    this.#pill.hidden = true;
    put(this.#since, "");
    put(this.#name, id ?? "");
    this.scrollTop = 0;
  }

  gone(id) {
    if (id !== this.#id) return;
    const focused = document.activeElement;
    this.#missing.hidden = false;
    this.#body.hidden = true;
    this.#pill.hidden = true;
    put(this.#since, "");
    if (this.#detail) this.#missing.say("This request is not here any more.", "It was archived: its files are in archive/, a folder beside the requests.");
    else if (!this.#shown) this.#missing.say("There is no such request here.", "It may be in the archive, which is a folder beside the requests.");
    this.#detail = null; // and nothing of it is told on
    this.#keepFocus(focused);
  }

  /** Of a button that has gone out of sight, the focus goes to the one that closes. */
  #keepFocus(/** @type {Element | null} */ had) {
    if (had && this.contains(had) && !had.checkVisibility()) this.#close.focus();
  }

  /**
   * @param {Desk.RequestDetail} detail
   * @param {number} now
   */
  show(detail, now) {
    if (detail.fact.id !== this.#id) return;
    const focused = document.activeElement;
    this.#detail = detail;
    this.#body.hidden = false; // also of one that was gone, and came again
    this.#missing.hidden = true;
    this.#pill.hidden = false;
    const { fact } = detail;
    this.#pill.said = STATES[fact.state] ?? ["ring", "idle", fact.state];
    for (const { what, button } of this.#buttons) {
      button.hidden = !{ requeue: FAILED.has(fact.state), cancel: OPEN.has(fact.state), archive: !OPEN.has(fact.state) }[what];
    }
    this.#keepFocus(focused);
    const shown = JSON.stringify(detail);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#paint(detail);
    }
    this.tick(now);
  }

  /** What changes with the time alone. */
  tick(now) {
    if (!this.#detail) return;
    const { fact } = this.#detail;
    const took = fact.seconds === undefined || fact.seconds === null ? "" : ` · took ${lasted(fact.seconds)}`;
    put(this.#since, `accepted ${format.ago(now - fact.created)}${took}`);
    this.#since.title = format.exact(fact.created);
    this.#timeline.show(this.#detail, now);
  }

  /** @param {Desk.RequestDetail} detail */
  #paint({ fact, params, tried = [], notes = [], not_before, deadline, evaluation }) {
    this.#timeline.hidden = tried.length === 0;
    this.#attempts.replaceChildren(...tried.map((attempt) => this.#attempt(attempt)));
    mark(this.#attempts, "data-count", Math.min(tried.length, 3));
    this.#notes.replaceChildren(...notes.map((note) => h("li", {}, locally(note))));
    const facts = /** @type {[string, string][]} */ ([
      fact.command ? ["Command", fact.command] : null, // none is known of what could not be read
      fact.submitter ? ["Submitted by", fact.submitter] : null,
      fact.priority ? ["Priority", String(fact.priority)] : null,
      not_before ? ["Not before", format.exact(not_before)] : null,
      deadline ? ["Deadline", format.exact(deadline)] : null,
      ["Last change", format.exact(fact.changed)],
    ].filter(Boolean));
    this.#facts.replaceChildren(...facts.map(([label, value]) => h("div", {}, h("dt", {}, label), h("dd", {}, value))));
    this.#params.hidden = params === undefined || params === null;
    this.#params.replaceChildren(h("h3", {}, "Parameters"), ...text(params ?? {}, "Parameters"));
    this.#evaluation.hidden = evaluation === undefined || evaluation === null;
    this.#evaluation.replaceChildren(h("h3", {}, "Evaluation"), ...text(evaluation ?? "", "Evaluation"));
  }

  /** @param {Desk.Attempt} attempt */
  #attempt(attempt) {
    const { number, began, ended, seconds, outcome, late } = attempt;
    const pill = h("house-pill");
    const tone = toneOf(attempt);
    const title = h("header", {}, h("h3", {}, `Attempt ${number}`), pill);
    const took = seconds ?? (ended ? Math.max(0, ended - began) : null);
    const when = h("p.when", { title: format.exact(began) },
      `${format.clock(began)}${took === null ? "" : ` · ${lasted(took)}`}`);
    const item = h("li", {}, title, when, ...this.#answer(outcome, late, number));
    mark(item, "data-tone", tone);
    pill.said = late && tone === "bad" ? ["clock", "bad", "no answer"] : SIGNS[tone];
    return item;
  }

  #answer(outcome, late, number) {
    if (outcome?.type === "success") return text(outcome.data ?? null, `Answer ${number}`);
    if (outcome) {
      const permanent = outcome.permanent ? [h("p.when", {}, "It would fail again, so it is not tried again.")] : [];
      return [...text(outcome.message, `Answer ${number}`), ...permanent];
    }
    return [h("p.when", {}, late ? "Nobody answered in time." : "No answer yet.")];
  }

  async #copy() {
    if (this.#id === null) return;
    await copy(this.#id, { said: `Copied ${this.#id}`, shown: this.#name });
  }
}

customElements.define("desk-detail", DeskDetail);
