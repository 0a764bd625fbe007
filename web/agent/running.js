/**
 * A command that runs: its output as it comes, in a box of its own, and how it ended. The box follows its end unless
 * somebody has scrolled up in it. Colours that a program sends are left out; a line that it writes anew (a progress) is
 * shown as it is last.
 */

import { format, h, icon, mark, put, turn } from "../house/house.js";
import { visible } from "./visible.js";

/** Lines that are kept. The server keeps more of them, and the model is told what it is told. */
const MOST_LINES = 2000;
/** Characters of a line. */
const LONGEST = 4000;
const NEAR = 24;
const [BEL, ESC] = ["\u0007", "\u001b"];
const ESCAPES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|[@-Z\\\\^_])`, "g");
/** The beginning of one, at the end of a piece. */
const HALF = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|\\][^${BEL}${ESC}]*)?$`);

const ENDS = {
  signalled: "Ended by a signal",
  stopped: "Stopped",
  cancelled: "Cancelled: nothing of it is left",
  not_started: "Not started",
  interrupted: "Interrupted",
};

export class CommandRunView {
  #sign = icon("half");
  #said = h("span.said", {}, "Running");
  #time = h("span.time");
  #output = h("pre.output", { tabIndex: 0, role: "region", ariaLabel: "Output", hidden: true });
  #left = h("p.left", { hidden: true });
  element = h("div.run", { "data-tone": "info" }, h("p.course", {}, this.#sign, this.#said, this.#time), this.#left, this.#output);
  #gone = 0;
  #half = { stdout: "", stderr: "" };
  /** @type {HTMLElement | null} */
  #line = null;
  /** The line as it is, for a program that writes it anew. */
  #text = "";
  #over = false;

  write({ stream, text }) {
    const near = this.#output.scrollHeight - this.#output.scrollTop - this.#output.clientHeight < NEAR;
    this.#output.hidden = false;
    let whole = this.#half[stream] + text;
    const half = HALF.exec(whole);
    this.#half[stream] = half && half[0].length < 200 ? half[0] : "";
    whole = whole.slice(0, whole.length - this.#half[stream].length).replace(ESCAPES, "").replaceAll("\r\n", "\n");
    const [last, ...lines] = whole.split("\n").reverse();
    for (const line of lines.reverse()) {
      this.#put(line, stream);
      this.#line = null;
    }
    if (last) this.#put(last, stream);
    this.#trim();
    if (near) this.#output.scrollTop = this.#output.scrollHeight;
  }

  /** The command has ended. */
  end({ ended = "exited", exit_code: code, why = "", duration_ms: took = 0, by = "server" }) {
    this.#over = true;
    const good = ended === "exited" && code === 0;
    turn(this.#sign, good ? "check" : ended === "cancelled" || ended === "stopped" ? "square" : "alarm");
    mark(this.element, "data-tone", good ? "good" : ended === "cancelled" ? "idle" : "bad");
    const word = ended === "exited" ? (code === null ? "Ended" : `Exit code ${code}`) : ENDS[ended] ?? ended;
    put(this.#said, `${word}${why && ended !== "cancelled" ? `. ${why}` : ""}${by === "client" && ended === "exited" ? " (as the editor says)" : ""}`);
    put(this.#time, took ? format.brief(took / 1000) : "");
    if (ended === "exited" && this.#output.hidden) put(this.#said, `${this.#said.textContent} · no output`);
  }

  /** The turn has ended, and nothing more comes. */
  give() {
    if (!this.#over) this.end({ ended: "interrupted", exit_code: null, why: "The turn ended before it told how" });
  }

  #put(part, stream) {
    if (!this.#line || this.#line.dataset.stream !== stream) this.#begin(stream);
    const at = part.lastIndexOf("\r");
    this.#text = at === -1 ? this.#text + part : part.slice(at + 1) || part.slice(0, at).split("\r").at(-1) || "";
    const long = this.#text.length > LONGEST;
    this.#line?.replaceChildren(...visible(this.#text.slice(0, LONGEST), { lines: true }), long ? "…" : "", "\n");
  }

  #begin(stream) {
    this.#text = "";
    this.#line = h(`span.${stream}`, { "data-stream": stream }, "\n");
    this.#output.append(this.#line);
  }

  #trim() {
    const over = this.#output.childElementCount - MOST_LINES;
    if (over <= 0) return;
    for (let row = 0; row < over; row += 1) this.#output.firstChild?.remove();
    this.#gone += over;
    this.#left.hidden = false;
    put(this.#left, `The first ${format.count(this.#gone)} lines are left out here.`);
  }
}
