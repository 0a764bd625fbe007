/**
 * <agent-request>: one thing that the agent asks, or says that it does: a change of a file, a command, a tool. It shows
 * all that will happen, every character of it, and why it is asked; then who has answered, and what came of it.
 *
 * "Approve" takes the hunks whose boxes are checked. "Reject" first asks for the reason, which the agent hears; without
 * one it is rejected as well. What is written of it stays over a reload (kept.js).
 *
 * A command that the editor has for its terminal says so until something is heard of it. The editor tells nothing before
 * its end, so after a while it is offered to run it here, or to go on without it: only the reader sees what the editor does.
 *
 * Events: "answer" {request, approved, hunks, remember, exactly, reason}, "answer-file" {path, remember}, "take-back" {request, here},
 * "read" (it is to be seen, wherever the end is).
 */

import { HouseElement, h, icon, mark, notify, put, turn } from "../house/house.js";
import "./diff_view.js";
import { isInSight } from "./in_sight.js";
import { deletedBy, titleOf } from "./requests.js";
import { CommandRunView } from "./running.js";
import { inQuotes, visible, warningOf } from "./visible.js";
import { doneBy } from "./who.js";

/** @typedef {import("./requests.js").Request} Request */

const SIGNS = { patch: "pen", command: "play", tool: "sliders" };
const VERBS = { create: "New file", modify: "Change", delete: "Delete" };
/**
 * A key, or the second of two clicks, that comes sooner after the request has come, or come forward, by itself is not meant
 * for it. Nor is a click that comes sooner after something has moved it, or has put a button where there was none.
 */
const MEANT = 700;
/** How long nothing is heard of the editor's terminal until it is offered to do without it. */
const SILENCE = 10_000;
/** Variables of a command's environment that are shown at once. */
const FEW = 6;

class AgentRequest extends HouseElement {
  /** @type {Request} */
  request;
  #sign = icon("pen");
  #verb = h("b.verb");
  #what = h("code.what");
  #risk = h("span.badge.risk", { hidden: true });
  #state = h("house-pill");
  #summary = h("summary", {}, this.#sign, this.#verb, this.#what, this.#risk, this.#state);
  #about = h("div.about-it");
  /** @type {any} */
  #diff = h("agent-diff");
  #fold = h("details", { open: true }, this.#summary, this.#about);
  #approve = h("button.yes.approve", { type: "button", onclick: (event) => this.#pressed(event, () => this.approve()) }, icon("check"), h("span", {}, "Approve"), h("kbd", { ariaHidden: "true" }, "a"));
  #file = h("button.file", { type: "button", hidden: true, onclick: (event) => this.#pressed(event, () => this.#approveFile()) }, "Approve all of this file");
  #reject = h("button.reject", { type: "button", ariaExpanded: "false", onclick: () => this.reject() }, icon("cross"), h("span", {}, "Reject…"), h("kbd", { ariaHidden: "true" }, "r"));
  #remember = h("select", { ariaLabel: "How long the approval holds" });
  #remembered = h("label.remember", { hidden: true }, this.#remember);
  #never = h("span.never", { hidden: true }, "This command is asked for each time.");
  #reason = h("input", { type: "text", maxLength: 10_000, autocomplete: "off", ariaLabel: "Why not? The agent hears it", placeholder: "Why not? The agent hears it", dir: "auto" });
  #refusal = h("form.refusal", { hidden: true, onsubmit: (event) => this.#refused(event) }, this.#reason,
    h("button.no", { type: "submit" }, "Reject"), h("button", { type: "button", onclick: () => this.#unfold(false) }, "Back"));
  #form = h("div.asked", { hidden: true }, h("div.buttons", {}, this.#approve, this.#reject, this.#file, this.#remembered, this.#never), this.#refusal);
  #outcome = h("p.result", { hidden: true });
  #written = h("p.result", { hidden: true });
  #offer = h("div.offer", { hidden: true }, h("p", {}, "Nothing has come from there yet. If your editor is not running it:"),
    h("div.buttons", {}, h("button.here", { type: "button", onclick: () => this.#takeBack(true) }, "Run it here"),
      h("button.without", { type: "button", onclick: () => this.#takeBack(false) }, "Go on without it")));
  #terminal = h("div.terminal", { hidden: true }, h("p.result", { "data-tone": "info" }, icon("half"), h("span", {}, "Waiting for your editor's terminal")), this.#offer);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence;
  #isOver = false;
  #came = -MEANT;
  /** When something has moved it by itself. */
  #moved = -MEANT;
  #sameFile = 0;
  /** @type {CommandRunView | null} */
  #run = null;

  build() {
    this.tabIndex = -1;
    this.setAttribute("role", "group");
    this.append(this.#fold, this.#form, this.#outcome, this.#written, this.#terminal);
    this.addEventListener("taken", () => this.#drawApprove());
    this.#fold.addEventListener("toggle", () => this.#diff.seen());
    this.#reason.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      this.#unfold(false);
    });
  }

  /** @param {Request} request */
  show(request) {
    const first = !this.request;
    this.request = request;
    if (first) this.#draw();
    if (first && request.live && request.state === "waiting") this.#hold();
    this.#follow();
  }

  /** How many changes of this file wait: with several, all can be approved at once. */
  set sameFile(count) {
    this.#file.hidden = count < 2;
    put(this.#file, `Approve all ${count} of this file`);
    if (count > Math.max(1, this.#sameFile)) this.move(); // there is one more that nobody has seen
    this.#sameFile = count;
  }

  /** Something has moved it: no click is meant for it that was aimed at what was there before. One that was begun is. */
  move() {
    if (this.#form.querySelector("button:active")) return;
    this.#moved = performance.now();
    this.#drawSoon();
  }

  /** The focus comes here by itself. */
  comeForward() {
    this.#hold();
    this.go();
  }

  /** It has just come under somebody's hands. */
  #hold() {
    this.#came = performance.now();
    this.#drawSoon();
  }

  #drawSoon() {
    this.#drawApprove();
    setTimeout(() => this.#drawApprove(), MEANT + 20);
  }

  /** To be read from its beginning. */
  go() {
    this.#fold.open = true;
    this.announce("read");
    this.focus({ preventScroll: true });
    this.scrollIntoView({ block: this.offsetHeight > this.#room.clientHeight ? "start" : "nearest" });
  }

  /** What scrolls. */
  get #room() {
    return this.closest("agent-transcript") ?? document.documentElement;
  }

  get isOpen() {
    return this.request.state === "waiting";
  }

  /** Whether its buttons are there. */
  get asks() {
    return !this.#form.hidden;
  }

  /** Whether a key that is pressed now can be meant for this. */
  get isMeant() {
    return performance.now() - this.#came > MEANT;
  }

  /** By a key: only what can be seen. Else it is shown, and the next press of the key means it. */
  approveByKey() {
    if (this.isMeant) this.#ifSeen(() => this.approve());
  }

  /** A button was pressed: by a key, a click has no number. */
  #pressed({ detail: clicks }, act) {
    if (clicks) act();
    else this.#ifSeen(act);
  }

  #ifSeen(act) {
    if (!this.isOpen) return;
    const { part, whole } = this.#matter;
    if (isInSight(part, this.#room, { whole })) {
      act();
      return;
    }
    this.comeForward();
    if (!isInSight(part, this.#room, { whole })) part.scrollIntoView({ block: "nearest" });
  }

  /** What is decided, and whether all of it is to be in sight: who reads a long change sees a part at a time. */
  get #matter() {
    const part = this.#about.querySelector(":scope > :is(agent-diff, pre.command, dl.facts)");
    return { part: part ?? this.#summary, whole: this.request.kind !== "patch" };
  }

  approve() {
    if (!this.isOpen) return;
    const { taken, count } = this.#diff;
    if (count && !taken.length) this.reject();
    else this.announce("answer", { request: this.request, approved: true, hunks: taken.length < count ? taken : null, ...this.#lasting });
  }

  #approveFile() {
    if (this.isOpen) this.announce("answer-file", { path: this.request.event.file_path, ...this.#lasting });
  }

  get #lasting() {
    const [remember, exactly] = this.#remembered.hidden ? ["once"] : this.#remember.value.split(" ");
    return exactly ? { remember, exactly: true } : { remember };
  }

  /** Asks why; false: it is not to be answered. */
  reject() {
    if (this.isOpen) this.#unfold(true);
    return this.isOpen;
  }

  /** Why it is to be rejected, as far as it is written and was not sent. */
  get reason() {
    return this.isOpen ? this.#reason.value : "";
  }

  set reason(text) {
    if (!text || !this.isOpen) return;
    this.#reason.value = text;
    this.#refusal.hidden = false;
    mark(this.#reject, "aria-expanded", true);
  }

  step(by) {
    this.#fold.open = true;
    this.#diff.seen();
    if (!this.#diff.isConnected || !this.#diff.step(by)) this.focus();
  }

  /** What came of the change. */
  applied({ success, hunks = [], error, by, file_path: path }) {
    this.#diff.outcomes = hunks;
    const told = by === "client" ? ", by the editor" : "";
    const word = success ? `${{ create: "Made", modify: "Written", delete: "Deleted" }[this.request.event.action ?? "modify"]}: ${path}${told}` : `Not written: ${error || "it does not fit"}`;
    this.#tell(this.#written, success ? "check" : "alarm", success ? "good" : "bad", word);
  }

  /** What is known of its file, where patch.applied does not tell it: a disk that hung, and what came of it. */
  changed({ status, error }) {
    if (status === "unknown") this.#tell(this.#written, "alarm", "warn", error ?? "It is not known yet whether it was written.");
    else if (status === "failed" && this.#written.dataset.tone === "warn") this.#tell(this.#written, "alarm", "bad", `Not written: ${error || "it does not fit"}`);
  }

  /** What the command does. */
  get run() {
    if (!this.#run) {
      this.#run = new CommandRunView();
      this.append(this.#run.element);
      this.#drawTerminal();
    }
    return this.#run;
  }

  /** Somebody waits no longer for the editor's terminal. */
  takenBack({ run_here: here, by }) {
    this.#tell(this.#written, "out", "idle", here ? `Taken back${doneBy(by)}, to be run here` : `Given up${doneBy(by)}: the editor's terminal is no longer waited for`);
    this.#isOver = true;
    this.#drawTerminal();
  }

  /** The turn has ended. */
  give() {
    if (this.#isAwaited) this.#tell(this.#written, "alarm", "warn", "The turn ended before your editor told how this did. It may be running there still.");
    this.#isOver = true;
    this.#drawTerminal();
  }

  #takeBack(here) {
    this.announce("take-back", { request: this.request, here });
  }

  /** Whether the editor has the command for its terminal, and has told nothing of it. */
  get #isAwaited() {
    const { state, resolution, event } = this.request;
    const goes = state === "told" || (state === "settled" && resolution.approved);
    return event.execution_mode === "local_terminal" && goes && !this.#run && !this.#isOver;
  }

  #drawTerminal() {
    const awaited = this.#isAwaited;
    if (awaited === !this.#terminal.hidden) return;
    const held = this.#terminal.contains(document.activeElement);
    this.#terminal.hidden = !awaited;
    this.#offer.hidden = true;
    clearTimeout(this.#silence);
    if (awaited) this.#silence = setTimeout(() => (this.#offer.hidden = false), SILENCE);
    else if (held) this.focus({ preventScroll: true });
  }

  // --- what is asked

  #draw() {
    const { kind, event } = this.request;
    this.dataset.kind = kind;
    const deleted = kind === "tool" ? deletedBy(event) : null;
    const [verb, what] = kind === "patch" ? [VERBS[event.action ?? "modify"], event.file_path] : kind === "command" ? ["Run", event.command]
      : deleted === null ? ["Use", event.tool_name] : [VERBS.delete, deleted];
    turn(this.#sign, verb === VERBS.delete ? "cross" : SIGNS[kind]);
    put(this.#verb, verb);
    this.#what.replaceChildren(...visible(what));
    mark(this.#what, "data-path", kind === "patch" || deleted !== null);
    this.#risk.hidden = !event.risk_level || event.risk_level === "medium";
    put(this.#risk, event.risk_level === "high" ? "high risk" : "low risk");
    mark(this.#risk, "data-risk", event.risk_level ?? null);
    const parts = kind === "patch" ? this.#ofPatch(event) : kind === "command" ? this.#ofCommand(event) : [...(deleted === null ? this.#ofTool(event) : this.#ofDeletion(event)), whyOf(event)];
    this.#about.append(...parts.filter((each) => each !== null));
    this.#drawRemember();
  }

  #ofPatch(event) {
    const { diff, hunks = [], rationale, acceptance_criteria: criteria = [] } = event;
    this.#diff.show({ diff, hunks });
    return [
      rationale ? rationaleOf(rationale) : null,
      criteria.length ? h("ul.criteria", { ariaLabel: "It is right when" }, ...criteria.map((each) => h("li", {}, icon("ring"), h("span", {}, ...visible(each))))) : null,
      this.#diff.count ? this.#diff : diff.trim() ? h("pre.command", {}, ...visible(diff, { lines: true })) : h("p.why", {}, "No line of it changes."),
      whyOf(event),
    ];
  }

  #ofCommand(event) {
    const { command, working_directory: folder, environment = {}, network, execution_mode: mode, runs = [] } = event;
    const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, ...value));
    const warning = warningOf(command);
    return [
      h("pre.command", { tabIndex: 0, role: "region", ariaLabel: "The command, whole" }, ...visible(command, { lines: true, ends: true })),
      runs.length ? h("dl.facts.runs", { ariaLabel: "What it runs" }, ...runs.map(({ file, name, text }) =>
        h("div", {}, h("dt", {}, ...visible(`${file}, ${name}`)), h("dd", {}, h("code", {}, ...visible(text)))))) : null,
      warning ? h("p.warning", {}, icon("alarm"), h("span", {}, warning)) : null,
      whyOf(event),
      h("dl.facts", {}, fact("Where", mode === "local_terminal" ? "In your editor's terminal" : "Here, by the server"),
        fact("Folder", h("code", {}, ...(folder && folder !== "." ? visible(folder) : ["the workspace's own"]))),
        fact("Environment", ...variablesOf(environment)),
        fact("Network", mode === "local_terminal" ? "As your terminal can" : network ? "It can reach the network" : "It cannot reach the network")),
    ];
  }

  #ofTool({ args }) {
    /** @type {[name: string, value: unknown][]} */
    const named = args !== null && typeof args === "object" && !Array.isArray(args) ? Object.entries(args) : [["arguments", args]];
    return [factsOf(named)];
  }

  /** The file stands above. */
  #ofDeletion({ args: { file_path: _, reason, ...more } }) {
    const named = Object.entries(more);
    return [reason ? rationaleOf(String(reason)) : null, named.length ? factsOf(named) : null];
  }

  #drawRemember() {
    const { kind, event } = this.request;
    const words = event.may_remember ?? [];
    const code = (name) => h("code", {}, ...visible(name));
    const covered = kind === "patch" ? ["changes of ", code(event.file_path)] : kind === "command" ? ["commands that begin with ", code(inQuotes(words))]
      : deletedBy(event) === null ? ["the tool ", code(event.tool_name)] : ["the deletion of any file"];
    const begins = kind !== "command" || words.length > 0;
    const exactly = kind === "command" && event.may_remember_exactly === true;
    this.#remembered.hidden = !begins && !exactly;
    this.#never.hidden = !this.#remembered.hidden;
    const option = (value, label) => h("option", { value }, label);
    this.#remember.replaceChildren(option("once", "Just this once"),
      ...(begins ? [option("session", "For this session"), option("workspace", "For this workspace")] : []),
      ...(exactly ? [option("session exactly", "Exactly this, for this session"), option("workspace exactly", "Exactly this, for this workspace")] : []));
    const shown = h("span.prefix", { hidden: true, role: "status" });
    this.#remembered.append(shown);
    this.#remember.addEventListener("change", () => {
      shown.hidden = this.#remember.value === "once";
      shown.replaceChildren(...(this.#lasting.exactly ? ["only this command, to the letter, in this folder"] : covered));
    });
  }

  // --- what becomes of it

  #follow() {
    const { state, resolution, kind } = this.request;
    const wasOpen = this.dataset.state === "waiting";
    this.dataset.state = state;
    const held = this.#form.contains(document.activeElement);
    this.#form.hidden = state !== "waiting" && state !== "sent";
    for (const each of /** @type {NodeListOf<HTMLButtonElement>} */ (this.#form.querySelectorAll("button, select, input"))) each.disabled = state === "sent";
    this.#state.said = saidOf(this.request);
    this.#diff.asks = state === "waiting" && Boolean(this.request.event.hunks?.length);
    if (state === "settled") {
      this.#diff.approved = resolution.approved ? resolution.hunks : null;
      this.#tell(this.#outcome, resolution.approved ? "check" : "cross", resolution.approved ? "good" : "idle", settledOf(resolution, this.#diff.count));
      this.#fold.open = false;
    } else if (state === "over") {
      this.#tell(this.#outcome, "square", "idle", "The turn ended before it was answered.");
      this.#fold.open = false;
    } else if (state === "told" && kind === "patch") {
      this.#fold.open = false;
    }
    const reason = this.#refusal.hidden ? "" : this.#reason.value.trim();
    if (wasOpen && this.#form.hidden && reason) {
      const how = state === "settled" ? "was answered elsewhere" : "is over";
      notify(`${titleOf(this.request)} ${how} while you were writing. The agent does not hear “${reason.slice(0, 100)}”.`);
    }
    if (this.#form.hidden) this.#unfold(false);
    this.#drawApprove();
    this.#drawTerminal();
    this.ariaLabel = `${titleOf(this.request)}: ${saidOf(this.request)[2]}`;
    if (held && this.#form.hidden) this.focus({ preventScroll: true });
  }

  #tell(place, sign, tone, sentence) {
    place.hidden = false;
    mark(place, "data-tone", tone);
    place.replaceChildren(icon(sign), h("span", {}, sentence));
  }

  #drawApprove() {
    const [taken, all] = [this.#diff.taken.length, this.#diff.count];
    put(this.#approve.children[1], all > 1 && taken < all ? (taken ? `Approve ${taken} of ${all} hunks` : "No hunk is taken") : "Approve");
    const early = this.request.state !== "waiting" || !this.isMeant || performance.now() - this.#moved <= MEANT;
    this.#approve.disabled = early || (all > 0 && taken === 0);
    this.#file.disabled = early;
  }

  // --- the answers

  #unfold(open) {
    const was = !this.#refusal.hidden;
    if (open === was) {
      if (open) this.#reason.focus();
      return;
    }
    this.#refusal.hidden = !open;
    mark(this.#reject, "aria-expanded", open);
    if (open) this.#reason.focus();
    else if (!this.#form.hidden) this.#reject.focus();
  }

  #refused(event) {
    event.preventDefault();
    this.announce("answer", {
      request: this.request, approved: false, reason: this.#reason.value.trim() || null,
    });
  }
}

/** Why the agent wants it. */
function rationaleOf(text) {
  return h("p.rationale", { dir: "auto" }, ...visible(text, { lines: true }));
}

/** @param {[name: string, value: unknown][]} named */
function factsOf(named) {
  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");
  return h("dl.facts", {}, ...named.map(([name, value]) => h("div", {}, h("dt", {}, ...visible(name)),
    h("dd", {}, h("pre.value", {}, ...visible(shown(value), { lines: true }))))));
}

/** Why it is asked. */
function whyOf({ reason }) {
  return reason ? h("p.why", {}, ...visible(reason)) : null;
}

/** Many variables are unfolded by whoever wants to see them: the answer is not to be looked for below them. */
function variablesOf(environment) {
  const names = Object.keys(environment);
  const shown = names.map((name) => h("code.variable", {}, ...visible(`${name}=${environment[name]}`)));
  if (!names.length) return ["nothing beside the usual"];
  return names.length > FEW ? [h("details.variables", {}, h("summary", {}, `${names.length} variables: `, ...visible(names.join(", "))), ...shown)] : shown;
}

/** [sign, tone, word] */
function saidOf({ state, resolution, kind, event }) {
  switch (state) {
    case "waiting": return ["alarm", "warn", "waits for you"];
    case "sent": return ["half", "info", "sending"];
    case "over": return ["square", "idle", "not answered"];
    case "settled":
      if (resolution.approved) return ["check", "good", "approved"];
      return resolution.ended === "answered" || !resolution.ended ? ["cross", "idle", "rejected"] : ["square", "idle", resolution.ended === "timed_out" ? "timed out" : "cancelled"];
    default: return kind === "command" && event.execution_mode === "local_terminal" ? ["out", "idle", "for the editor's terminal"] : ["check", "idle", "allowed"];
  }
}

function settledOf({ approved, by, reason, hunks, remember, exactly, ended }, count) {
  if (ended === "timed_out") return "Nobody answered in time, so it was not done.";
  if (ended === "cancelled") return "The turn was cancelled before it was answered.";
  if (!approved) return `Rejected${doneBy(by)}${reason ? `: ${reason}` : ""}`;
  const some = hunks && hunks.length < count ? `, ${hunks.length} of ${count} hunks` : "";
  const kept = remember === "session" || remember === "workspace" ? `, remembered for this ${remember}${exactly ? ", exactly this one" : ""}` : "";
  return `Approved${doneBy(by)}${some}${kept}`;
}

customElements.define("agent-request", AgentRequest);
