/**
 * <agent-transcript>: what was said and done in a session, from the first message to the one that is being written.
 *
 * Each event of the log is shown once, where it belongs: what the user said, and below it the turn, with its searches,
 * tools and texts in their order. A text is drawn block by block (house/markdown.js). While the reader is at the end,
 * the end stays in view; else a button leads back there.
 *
 * Nothing here is read out while it comes (heard.js does that); whoever walks through it with a screen reader finds a log.
 * A turn that did not end well can be asked again, and one that changed files can be undone, and done again.
 *
 * What the agent asks stands where it was asked (<agent-request>), and what came of it below: the events that answer,
 * apply or run are shown there. Those of which nobody was asked stand alone.
 *
 * Events: "plan", "usage", "again" {message, context}, "undo" {turn, redo}, "asked" (a new request), and those of
 * <agent-request>.
 */

import { HouseElement, format, h, icon } from "../house/house.js";
import { manner } from "./diff_view.js";
import { changeOf, contextOf, failureOf, noteOf, retrievalOf } from "./parts.js";
import "./request.js";
import { idOf } from "./requests.js";
import { CommandRunView } from "./running.js";
import { Turn } from "./turn.js";
import { visible } from "./visible.js";

/** Pixels from the end within which the reader counts as being there. */
const NEAR = 48;

class AgentTranscript extends HouseElement {
  /** @type {Turn | null} */
  #turn = null;
  /** @type {Turn | null} */
  #last = null;
  #content = h("div.content");
  #toEnd = h("button.to-end", { type: "button", hidden: true, onclick: () => this.toEnd() }, icon("down"), "Newest");
  #follows = true;
  /** Where it was scrolled to. Only who scrolls up leaves the end: something may have come below since the scroll that is told. */
  #top = 0;
  /** @type {number | null} */
  #frame = null;

  /** @type {Map<string, any>} */
  #requests = new Map();
  /** Reasons that were begun before, of requests that have not been heard of again. @type {Map<string, string>} */
  #reasons = new Map();
  /** @type {Map<string, CommandRunView>} */
  #runs = new Map();
  /** @type {Map<string, Turn>} */
  #turns = new Map();
  /** @type {import("./session.js").Session | null} */
  #session = null;

  build() {
    this.append(this.#content, this.#toEnd);
    this.addEventListener("scroll", () => {
      const { scrollTop } = this;
      if (this.scrollHeight - scrollTop - this.clientHeight < NEAR) this.#follow(true);
      else if (scrollTop < this.#top) this.#follow(false);
      this.#top = scrollTop;
    }, { passive: true });
    this.#content.addEventListener("click", (event) => {
      const again = event.target instanceof Element && event.target.closest(".again");
      if (again && this.#last?.asked) this.announce("again", this.#last.asked);
      const undo = event.target instanceof Element && /** @type {HTMLElement | null} */ (event.target.closest(".undo"));
      if (undo) this.announce("undo", { turn: undo.dataset.turn || null, redo: undo.hasAttribute("data-redo") });
    });
    this.#content.addEventListener("read", () => {
      this.#follow(false);
    });
    this.#follow(true);
    const sizes = new ResizeObserver(() => {
      // a text that became shorter for a moment, as one out of sight is, has moved it up, and not the reader
      this.#top = Math.min(this.#top, this.scrollTop);
      this.#keepUp();
      this.#offerEnd();
    });
    for (const each of [this, this.#content]) sizes.observe(each);
  }

  /** The session that is shown: its requests are followed. */
  set session(session) {
    this.#session = session;
    session.requests.addEventListener("change", ({ detail: request }) => {
      if (this.#session !== session) return;
      const part = this.#requests.get(request.id);
      const asked = part?.asks;
      part?.show(request);
      if (asked && !part.asks) this.#moveAllBut(part); // it folds, and others take its place
      this.#countFiles();
    });
  }

  /** Why requests are to be rejected, as far as it is written, by their ids. @returns {Record<string, string>} */
  get reasons() {
    const written = [...this.#requests].map(([id, { reason }]) => [id, reason]);
    return Object.fromEntries([...this.#reasons, ...written].filter(([, reason]) => reason));
  }

  set reasons(texts) {
    this.#reasons = new Map(Object.entries(texts));
  }

  requestOf(id) {
    return this.#requests.get(id);
  }

  turnDiffs() {
    manner.turn();
  }

  /** When the turn that runs was asked: seconds since 1970; 0: none runs, or it is not known. */
  get askedAt() {
    return this.#turn?.at ?? 0;
  }

  get isEmpty() {
    return this.#content.childElementCount === 0;
  }

  clear() {
    this.#turn = this.#last = this.#session = null;
    for (const known of [this.#requests, this.#reasons, this.#runs, this.#turns]) known.clear();
    this.#content.replaceChildren();
    this.#follow(true);
  }

  /** Whether the end stays in view; else what is read does, whatever comes above it. */
  #follow(follows) {
    this.#follows = follows;
    this.toggleAttribute("data-follows", follows);
    this.#offerEnd();
  }

  /** The way to the end is offered only where the end is out of sight. */
  #offerEnd() {
    const below = this.#content.getBoundingClientRect().bottom - this.getBoundingClientRect().bottom;
    this.#toEnd.hidden = this.#follows || below < 2 * NEAR; // a line or two are not worth to cover the last card's answers
  }

  toEnd() {
    this.#follow(true);
    this.#keepUp();
  }

  /** Shows the next event of the log. */
  show(event) {
    switch (event.type) {
      case "user.message": this.#asked(event); break;
      case "assistant.token": this.#now().write(event.token); break;
      case "assistant.thinking": this.#now().say(event.message, event.until); break;
      case "tool.execute":
        if (event.tool_name !== "update_plan") this.#now().tool(event); // the plan itself is shown
        break;
      case "agent.retrieve.status": this.#now().add(retrievalOf(event)); break;
      case "agent.plan": this.announce("plan", event); break;
      case "assistant.message_final":
        this.#now().end(event);
        this.#turn = null;
        for (const request of this.#requests.values()) request.give();
        break;
      case "patch.proposed":
      case "command.request_approval":
      case "tool.request_approval": this.#asks(event); break;
      case "approval.resolved": break; // its request shows it
      case "patch.applied": this.#requests.get(this.#patchOf(event.patch_id))?.applied(event); break;
      case "file.changed": this.#changed(event); break;
      case "command.started": this.#started(event); break;
      case "command.taken_back": this.#commandOf(event.command_id)?.takenBack(event); break;
      case "command.output": this.#runOf(event.command_id)?.write(event); break;
      case "command.finished": this.#runOf(event.command_id)?.end(event); break;
      case "turn.undone":
        if (event.begun) break; // it is told when it is done
        this.#turns.get(event.turn_id)?.undone(!event.redo);
        this.#content.append(noteOf(event) ?? "");
        break;
      case "server.error": this.#add(failureOf(event.error)); break;
      case "context.usage": this.announce("usage", event); break;
      default: {
        const note = noteOf(event);
        if (note) this.#add(note);
      }
    }
  }

  /** A part of the turn, or of the session if there is none. */
  #add(part) {
    if (this.#turn) this.#turn.add(part);
    else this.#content.append(part);
  }

  #now() {
    if (!this.#turn) {
      this.#turn = this.#last = new Turn(null);
      this.#content.append(this.#turn.element);
    }
    return this.#turn;
  }

  // --- what is asked and done

  #asks(event) {
    const request = this.#session?.requests.get(idOf(event));
    if (!request) return;
    const part = /** @type {any} */ (h("agent-request"));
    this.#requests.set(request.id, part);
    this.#now().add(part);
    part.show(request);
    part.reason = this.#reasons.get(request.id) ?? "";
    this.#countFiles();
    if (request.state !== "waiting") return;
    this.#now().say("Waiting for your answer");
    if (request.live) this.announce("asked", part);
  }

  /** The request for which a patch was proposed: its event has both names. */
  #patchOf(id) {
    if (this.#requests.has(id)) return id;
    return [...this.#requests].find(([, { request }]) => request.event.patch_id === id)?.[0] ?? id;
  }

  #moveAllBut(part) {
    for (const each of this.#requests.values()) if (each !== part && each.asks) each.move();
  }

  #countFiles() {
    const waiting = this.#session?.requests.waiting.filter(({ kind, state }) => kind === "patch" && state === "waiting") ?? [];
    const counts = new Map();
    for (const { event } of waiting) counts.set(event.file_path, (counts.get(event.file_path) ?? 0) + 1);
    for (const { id, event } of waiting) {
      const part = this.#requests.get(id);
      if (part) part.sameFile = counts.get(event.file_path);
    }
  }

  #changed(event) {
    if (event.status === "begun") return;
    const turn = this.#turnOf(event.turn_id);
    if (event.status === "done") turn.changed(event);
    const asked = event.patch_id && this.#requests.get(this.#patchOf(event.patch_id));
    if (asked) asked.changed(event);
    else turn.add(changeOf(event));
  }

  #started(event) {
    let run = this.#commandOf(event.command_id)?.run;
    if (!run) {
      run = new CommandRunView();
      this.#now().add(h("div.alone", {}, h("code.line", {}, "$ ", ...visible(event.command)), run.element));
    }
    this.#runs.set(event.command_id, run);
    this.#now().runs.push(run);
    this.#now().say("Running a command…");
  }

  /** Of a command that the editor ran, no start is told. */
  #runOf(id) {
    return this.#runs.get(id) ?? this.#commandOf(id)?.run;
  }

  #commandOf(id) {
    return [...this.#requests.values()].find(({ request }) => request.event.command_id === id);
  }

  #turnOf(id) {
    return this.#turns.get(id) ?? this.#now();
  }

  #asked(event) {
    const { message, by, at, steers, context } = event;
    const head = h("header", {}, h("b", {}, steers ? "You, meanwhile" : "You"),
      h("span.by", {}, [by && by !== "web" ? by : null, at ? format.clock(at) : null].filter(Boolean).join(" · ")));
    const asked = h("article.user", {}, head, h("p.said", {}, message), contextOf(context));
    if (steers && this.#turn) {
      this.#turn.add(asked);
      return;
    }
    this.announce("plan", null);
    this.#content.append(asked);
    this.#turn = this.#last = new Turn({ message, context }, at);
    this.#turns.set(event.turn_id, this.#turn);
    this.#content.append(this.#turn.element);
  }

  #keepUp() {
    if (!this.#follows || this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = null;
      if (!this.#follows) return;
      this.scrollTop = this.scrollHeight;
      this.#top = this.scrollTop;
    });
  }
}

customElements.define("agent-transcript", AgentTranscript);
