/**
 * <agent-transcript>: what was said and done in a session, from the first message to the one that is being written.
 *
 * Each event of the log is shown once, where it belongs: what the user said, and below it the turn, with its searches,
 * tools and texts in their order. A text is drawn block by block (house/markdown.js). While the reader is at the end,
 * the end stays in view; else a button leads back there.
 *
 * Nothing here is read out while it comes (heard.js does that); whoever walks through it with a screen reader finds a log.
 * A turn that did not end well can be asked again. Events: "plan", "usage", "again" {message, context}.
 *
 * MessageFinal has the text that is kept. If a page has shown another (the server was killed before it had kept the
 * last words), that one is shown.
 */

import { HouseElement, format, h, icon, put } from "../house/house.js";
import { MarkdownText, showMarkdown } from "../house/markdown.js";
import { contextOf, failureOf, noteOf, retrievalOf, toolOf } from "./parts.js";

/** Pixels from the end within which the reader counts as being there. */
const NEAR = 48;

class Turn {
  /** @type {MarkdownText | null} */
  #text = null;
  /** @type {MarkdownText[]} */
  #texts = [];
  #tools = new Map();
  #status = h("p.status", {}, icon("half"), h("span"));

  /** @param {{message: string, context?: object} | null} asked */
  constructor(asked) {
    this.asked = asked;
    this.body = h("div.parts");
    this.element = h("article.turn", {}, this.body, this.#status);
    this.say("Starting…");
  }

  say(sentence) {
    put(this.#status.lastChild, sentence);
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
    this.#status.remove();
    const foot = footOf(metadata);
    if (!metadata.success && this.asked) foot.append(h("button.link.again", { type: "button" }, "Ask again"));
    this.element.append(foot);
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

class AgentTranscript extends HouseElement {
  /** @type {Turn | null} */
  #turn = null;
  /** @type {Turn | null} */
  #last = null;
  #content = h("div.content");
  #toEnd = h("button.to-end", { type: "button", hidden: true, onclick: () => this.toEnd() }, icon("down"), "Newest");
  #follows = true;
  /** @type {number | null} */
  #frame = null;

  build() {
    this.append(this.#content, this.#toEnd);
    this.addEventListener("scroll", () => {
      this.#follows = this.scrollHeight - this.scrollTop - this.clientHeight < NEAR;
      this.#toEnd.hidden = this.#follows;
    }, { passive: true });
    this.#content.addEventListener("click", (event) => {
      const again = event.target instanceof Element && event.target.closest(".again");
      if (again && this.#last?.asked) this.announce("again", this.#last.asked);
    });
    new ResizeObserver(() => this.#keepUp()).observe(this.#content);
  }

  get isEmpty() {
    return this.#content.childElementCount === 0;
  }

  clear() {
    this.#turn = this.#last = null;
    this.#content.replaceChildren();
    this.#follows = true;
    this.#toEnd.hidden = true;
  }

  toEnd() {
    this.#follows = true;
    this.#keepUp();
  }

  /** Shows the next event of the log. */
  show(event) {
    switch (event.type) {
      case "user.message": this.#asked(event); break;
      case "assistant.token": this.#now().write(event.token); break;
      case "assistant.thinking": this.#now().say(event.message); break;
      case "tool.execute": this.#now().tool(event); break;
      case "agent.retrieve.status": this.#now().add(retrievalOf(event)); break;
      case "agent.plan": this.announce("plan", event); break;
      case "assistant.message_final":
        this.#now().end(event);
        this.#turn = null;
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
    this.#turn = this.#last = new Turn({ message, context });
    this.#content.append(this.#turn.element);
  }

  #keepUp() {
    if (!this.#follows || this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = null;
      this.scrollTop = this.scrollHeight;
    });
  }
}

customElements.define("agent-transcript", AgentTranscript);
