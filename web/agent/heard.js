/**
 * What a screen reader hears of a turn while it comes. The transcript itself is silent: read out as it grows, it would
 * be read word by word, and all of it again with each window that is opened. Instead one place tells, politely, what
 * the turn is doing, no oftener than somebody can listen to, and at its end the whole answer at once.
 */

import { put } from "../house/house.js";
import { doneBy } from "./who.js";

const EACH = 2000;
const MOST = 2000;

/** What is heard of an event; null: nothing. */
function sentenceOf(event) {
  switch (event.type) {
    case "assistant.token": return "Writing";
    case "assistant.thinking": return event.message;
    case "tool.execute": return event.status === "started" ? `Running ${event.tool_name}` : null;
    default: return null;
  }
}

const ASKS = {
  "patch.proposed": ({ action, file_path: path }) => `${{ create: "A new file", delete: "The deletion of a file" }[action] ?? "A change of a file"}, ${path},`,
  "command.request_approval": ({ command }) => `A command, ${command.slice(0, 200)},`,
  "tool.request_approval": ({ tool_name: tool }) => `A tool, ${tool},`,
};

/** What is heard at once, whatever was said before. */
function tidingsOf(event) {
  if (event.type === "server.error") return event.error.message;
  if (event.type in ASKS) return event.requires_approval === false ? null : `${ASKS[event.type](event)} waits for your answer. Press W to go there.`;
  if (event.type === "approval.resolved") return `${event.approved ? "Approved" : event.ended === "timed_out" ? "Not answered in time" : event.ended === "cancelled" ? "Cancelled" : "Rejected"}${doneBy(event.by)}`;
  if (event.type === "command.taken_back") return event.run_here ? "The command is run here now" : "The command is no longer waited for";
  if (event.type === "command.finished") return event.ended === "exited" ? `The command has ended with ${event.exit_code}` : `The command has ended: ${event.why || event.ended}`;
  if (event.type !== "assistant.message_final") return null;
  const { success, cancelled, interrupted } = event.metadata;
  const word = cancelled ? "Stopped" : interrupted ? "Interrupted" : success ? "Done" : "Failed";
  const text = event.message.slice(0, MOST);
  return `${word}. ${text}${event.message.length > MOST ? " … The rest is in the transcript." : ""}`;
}

export class Heard {
  #place;
  #last = "";
  #next = "";
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;

  /** @param {Element} place */
  constructor(place) {
    this.#place = place;
  }

  /** An event that has just happened. */
  tell(event) {
    const tidings = tidingsOf(event);
    if (tidings !== null) {
      this.silence();
      put(this.#place, tidings);
      return;
    }
    const sentence = sentenceOf(event);
    if (sentence === null || sentence === this.#last) return;
    this.#last = this.#next = sentence;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      put(this.#place, this.#next);
    }, EACH);
  }

  silence() {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#last = "";
    put(this.#place, "");
  }
}
