/**
 * One turn in the transcript: its texts, tools and requests in their order, what it is doing now, and how it ended.
 *
 * MessageFinal has the text that is kept. If a page has shown another (the server was killed before it had kept the
 * last words), that one is shown.
 */

import { format, h, icon, put } from "../house/house.js";
import { MarkdownText, showMarkdown } from "../house/markdown.js";
import { toolOf } from "./parts.js";

/** @typedef {import("./running.js").CommandRunView} CommandRunView */

export class Turn {
  /** @type {MarkdownText | null} */
  #text = null;
  /** @type {MarkdownText[]} */
  #texts = [];
  #tools = new Map();
  #status = h("p.status", {}, icon("half"), h("span"));
  /** @type {CommandRunView[]} */
  runs = [];
  undo = h("button.link.undo", { type: "button", hidden: true }, "Undo…");

  /** @param {{message: string, context?: object} | null} asked @param {number} at */
  constructor(asked, at = 0) {
    this.asked = asked;
    this.at = at;
    this.body = h("div.parts");
    this.element = h("article.turn", {}, this.body, this.#status);
    this.say("Starting…");
  }

  /** `until`: the time of day, in seconds since 1970, until which the turn waits; 0: it does not. */
  say(sentence, until = 0) {
    put(this.#status.lastChild, until ? `${sentence} (until ${format.clock(until)})` : sentence);
  }

  write(token) {
    if (!this.#text) {
      const place = h("house-prose.text");
      this.body.append(place);
      this.#text = new MarkdownText(place);
      this.#texts.push(this.#text);
    }
    this.#text.append(token);
    this.say("Writing…");
  }

  add(part) {
    this.#text?.end();
    this.#text = null;
    this.body.append(part);
  }

  tool(event) {
    const known = this.#tools.get(event.call_id);
    if (known) {
      known.show(event);
    } else {
      const made = toolOf(event);
      this.#tools.set(event.call_id, made);
      this.add(made.element);
    }
    this.say(event.status === "started" ? `Running ${event.tool_name}…` : "Thinking…");
  }

  end({ message, metadata }) {
    this.#text?.end();
    this.#text = null;
    const bare = (text) => text.replace(/\s+/g, "");
    if (bare(this.#texts.map((each) => each.text).join("")) !== bare(message)) {
      for (const old of this.body.querySelectorAll(":scope > .text")) old.remove();
      const place = h("house-prose.text");
      showMarkdown(place, message);
      if (message) this.body.append(place);
    }
    for (const tool of this.#tools.values()) tool.give();
    for (const run of this.runs) run.give();
    this.#status.remove();
    const foot = footOf(metadata);
    this.undo.dataset.turn ||= metadata.turn_id ?? "";
    foot.append(this.undo);
    if (!metadata.success && this.asked) foot.append(h("button.link.again", { type: "button" }, "Ask again"));
    this.element.append(foot);
  }

  /** It has changed a file. */
  changed({ turn_id: id }) {
    this.undo.dataset.turn = id;
    this.undo.hidden = false;
  }

  undone(isUndone) {
    this.undo.hidden = false;
    this.undo.toggleAttribute("data-redo", isUndone);
    put(this.undo, isUndone ? "Do it again…" : "Undo…");
  }
}

function footOf({ success, cancelled, interrupted, tokens_used: tokens, seconds, tools_used: tools }) {
  const [sign, tone, word] = cancelled ? ["square", "idle", "Stopped"]
    : interrupted ? ["alarm", "warn", "Interrupted: the server ended, or failed, in the middle of this"]
      : success ? ["check", "good", "Done"] : ["alarm", "bad", "Failed"];
  const facts = [seconds ? format.brief(seconds) : null, tokens ? `${format.count(tokens)} tokens` : null,
    tools?.length ? `${tools.length} ${tools.length === 1 ? "tool" : "tools"}` : null].filter(Boolean);
  return h("p.foot", { "data-tone": tone }, icon(sign), h("span", {}, word), h("span.facts", {}, facts.join(" · ")));
}
