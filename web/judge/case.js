/**
 * <judge-case>: one case, as a line that unfolds.
 * `element.show({item, result, remark, words, state, limits, compare, blanks, free})`. `remark` says briefly that the
 * result is outdated, or of an earlier run, and `words` explains it.
 *
 * Rules
 *   - A failed case is open and a passed one is closed, unless the reader chooses otherwise. That choice lasts as long
 * as
 *     the outcome stays the same.
 *   - The inside is made when the case is first opened, and updated only while it is open.
 *
 * Announces "runone" and "whole" with its number, and "clip" with a text to copy.
 */

import { HouseElement, format, h, icon, mark, put, turn } from "../house/house.js";
import { verdictOf } from "./verdicts.js";
import "./comparison.js";
import "./meter.js";
import "./text.js";

/**
 * @typedef {{item: import("../messages").Judge.Case, result: import("./panel.js").Result | null, state: string,
 *   limits: {time: number, memory: number}, blanks: boolean, compare: import("../messages").Judge.Compare, remark: string,
 *   words: string, free: boolean}} View
 */

const STATES = {
  running: ["half", "info", "running"],
  waiting: ["ring", "idle", "waiting"],
  idle: ["ring", "idle", "not run"],
};

class JudgeCase extends HouseElement {
  /** @type {View} */
  #view;
  /** @type {{open: boolean, kind: string} | null} */
  #choice = null;
  /** @type {{copy: () => void} | null} */
  #clipping = null; // the text to copy when all of it has come
  /** @type {Record<"facts" | "input" | "expected" | "comparison" | "console", any> | null} */
  #inside = null;
  #sign = icon("ring");
  #letters = h("span.letters");
  #words = h("span.unseen");
  #badge = h("span.verdict", {}, this.#sign, this.#letters, this.#words);
  #name = h("span.name");
  #brief = h("span.brief");
  #stale = h("span.stale", { hidden: true });
  #time = h("judge-meter.time");
  #memory = h("judge-meter.memory");
  #fold = h("button.fold", { type: "button", onclick: () => this.toggle() }, icon("twist"), this.#name);
  #run = h("button.quiet.run", { type: "button", onclick: () => this.announce("runone", this.index) }, icon("play"));
  #body = h("div.body", { hidden: true });

  build() {
    const { index } = this;
    this.#body.id = `case-${index}`;
    mark(this.#fold, "aria-controls", this.#body.id);
    put(this.#name, `Case ${index}`);
    this.#run.title = this.#run.ariaLabel = `Run case ${index}`;
    const heading = h("h2", {}, this.#fold);
    this.append(
      h("header", {}, heading, this.#badge, this.#stale, this.#brief, this.#time, this.#memory, this.#run), this.#body);
    this.addEventListener("whole", (event) => this.#askWhole(event));
    this.addEventListener("clip", (event) => this.#clip(event));
  }

  get index() {
    return Number(this.dataset.index);
  }

  get isOpen() {
    const kind = kindOf(this.#view?.result);
    return this.#choice?.kind === kind ? this.#choice.open : kind === "fail";
  }

  /** @param {View} view */
  show(view) {
    const before = this.#view;
    if (before && Object.keys(view).every((key) => view[key] === before[key])) return;
    this.#view = view;
    this.#showHead(view);
    this.#showBody(before);
  }

  toggle(open = !this.isOpen) {
    this.#choice = { open, kind: kindOf(this.#view.result) };
    this.#showBody(null);
  }

  focus() {
    this.#fold.focus({ preventScroll: true });
    this.scrollIntoView({ block: "nearest" });
  }

  step(by) {
    if (this.isOpen) this.#inside?.comparison.step(by);
  }

  // --- the line

  #showHead({ item, result, remark, words: why, state, limits, free }) {
    const { sign, tone, letters, words } = result && !(state === "running") ? verdictOf(result) : named(state);
    turn(this.#sign, sign);
    mark(this.#badge, "data-tone", tone);
    mark(this.#badge, "title", words);
    put(this.#letters, letters);
    put(this.#words, letters === words ? "" : `: ${words}`);
    mark(this, "data-state", state);
    this.toggleAttribute("data-stale", Boolean(remark));
    this.#stale.hidden = !remark;
    put(this.#stale, remark);
    mark(this.#stale, "title", why || null);
    mark(this, "data-outcome", kindOf(result));
    put(this.#brief, result ? briefly(result) : firstLine(item.inputContent));
    this.#time.hidden = !result;
    this.#memory.hidden = typeof result?.memoryKb !== "number";
    if (result) this.#time.show(timeOf(result, limits));
    if (typeof result?.memoryKb === "number") this.#memory.show(memoryOf(result.memoryKb, limits));
    this.#run.disabled = !free;
  }

  // --- the inside

  #showBody(before) {
    const open = this.isOpen;
    this.#body.hidden = !open;
    mark(this.#fold, "aria-expanded", String(open));
    if (!open) return;
    const wasThere = this.#inside !== null;
    const inside = (this.#inside ??= this.#make());
    const { item, result, compare, blanks } = this.#view;
    const { facts, input, comparison, expected, console } = inside;
    const fresh = !wasThere || !before || before.result !== result || before.item !== item ||
      before.blanks !== blanks || before.compare !== compare;
    if (!fresh) return;
    put(facts, result ? factsOf(result) : "");
    facts.hidden = !facts.textContent;
    input.show({ source: { text: item.inputContent, size: item.inputSize, cut: item.inputCut ?? false }, blanks });
    const wanted = { text: item.expectedContent, size: item.expectedSize, cut: item.expectedCut ?? false };
    comparison.hidden = !result;
    expected.hidden = Boolean(result);
    if (result) {
      const actual = { text: result.actual, size: result.actualSize ?? null, cut: result.actualCut ?? false };
      const marked = result.status === "fail" && !isOf(result, "test");
      comparison.show({ expected: wanted, actual, compare, marked, blanks });
    } else expected.show({ source: wanted, blanks });
    console.hidden = !result?.console;
    if (result?.console) console.show({ source: { text: result.console, size: null, cut: false }, blanks: false });
    mark(this.#body, "data-first", result?.status === "re" ? "console" : null);
    if (this.#clipping) this.#clipWhole(before);
  }

  #make() {
    const inside = {
      facts: h("p.facts"),
      input: h("judge-text.input", { label: "Input" }),
      expected: h("judge-text.expected", { label: "Expected" }),
      comparison: h("judge-comparison"),
      console: h("judge-text.console", { label: "Console" }),
    };
    const { facts, input, expected, comparison, console } = inside;
    this.#body.append(facts, input, expected, comparison, console);
    return inside;
  }

  // --- texts that the server has cut

  #askWhole(event) {
    if (event.target === this) return;
    event.stopPropagation();
    this.announce("whole", this.index);
  }

  #clip(event) {
    if (event.target === this || event.detail !== null) return;
    event.stopPropagation();
    this.#clipping = event.target;
    this.announce("whole", this.index);
  }

  #clipWhole(before) {
    if (!before || (before.item === this.#view.item && before.result === this.#view.result)) return;
    const text = this.#clipping;
    this.#clipping = null;
    text?.copy();
  }
}

/** @param {import("./panel.js").Result | null} result */
function kindOf(result) {
  if (!result) return "none";
  return result.status === "pass" ? "pass" : "fail";
}

function named(state) {
  const [sign, tone, letters] = STATES[state];
  return { sign, tone, letters, words: letters };
}

const firstLine = (text) => text.trimStart().split("\n", 1)[0].slice(0, 200);

/**
 * @param {import("./panel.js").Result} result
 * @param {import("../messages").Judge.Outdated["reasons"][number]} reason
 */
const isOf = ({ outdated = [] }, reason) => outdated.includes(reason);

/**
 * The most important fact about a result, in a line. If the test was edited since, the line begins with "before:".
 *
 * @param {import("./panel.js").Result} result
 */
function briefly(result) {
  const brief = worth(result);
  return brief && isOf(result, "test") && result.status !== "pass" ? `before: ${brief}` : brief;
}

/** @param {import("./panel.js").Result} result */
function worth({ status, diffSummary, reason, console, actual }) {
  if (status === "pass") return firstLine(actual);
  const last = status === "re" ? (console.trimEnd().split("\n").at(-1) ?? "").trim() : "";
  return last || reason || diffSummary || "";
}

/**
 * All other facts about a result.
 *
 * @param {import("./panel.js").Result} result
 */
function factsOf(result) {
  const { reason, diffSummary, durationMs, cpuMs, exitCode, signal, contended, status } = result;
  const brief = worth({ ...result, actual: "" });
  const facts = [reason, status === "fail" ? diffSummary : null].filter((fact) => fact !== brief);
  if (status !== "pass" && exitCode && !reason) facts.push(`exit code ${exitCode}`);
  if (status !== "pass" && signal && !reason) facts.push(`signal ${signal}`);
  if (typeof cpuMs === "number" && Math.abs(durationMs - cpuMs) > 20) {
    facts.push(`${format.count(cpuMs)} ms of CPU in ${format.count(durationMs)} ms`);
  }
  if (contended) facts.push("the machine was busy with other things, so the times say less than usual");
  const text = facts.filter(Boolean).join(" · ");
  return text && text[0].toUpperCase() + text.slice(1);
}

/**
 * @param {import("./panel.js").Result} result
 * @param {View["limits"]} limits
 */
function timeOf({ cpuMs, durationMs, contended }, { time }) {
  const spent = cpuMs ?? durationMs;
  const busy = contended ? "; the machine was busy with other things" : "";
  const title = `${format.count(spent)} ms of ${format.count(time)} ms${busy}`;
  return { text: `${format.count(spent)} ms${contended ? "*" : ""}`, share: spent / time, title };
}

/**
 * @param {number} memoryKb
 * @param {View["limits"]} limits
 */
function memoryOf(memoryKb, { memory }) {
  const text = format.bytes(memoryKb * 1024);
  if (!memory) return { text, share: null, title: `${text} of memory` };
  return { text, share: memoryKb / (memory * 1024), title: `${text} of ${format.count(memory)} MB` };
}

customElements.define("judge-case", JudgeCase);
