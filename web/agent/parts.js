/** The parts of a turn: a tool's run, a search, a failure, a note; and what the editor told with a message. */

import { format, h, icon, mark, put, turn } from "../house/house.js";
import { undoneFile } from "./undo.js";
import { setBy, whatOf } from "./policy_words.js";
import { inQuotes, visible } from "./visible.js";
import { doneBy } from "./who.js";

/** Characters of a tool's result that are shown. The model has read all of it. */
const MOST_SHOWN = 20_000;
const MOST_ITEMS = 100;
const MOST_ARGUMENTS = 300;

/** status: [sign, tone, what it says to those who cannot see the sign] */
const STATUSES = {
  started: ["half", "info", "running"],
  completed: ["check", "good", "done"],
  failed: ["alarm", "bad", "failed"],
  given: ["square", "idle", "given up"],
};

const STAGES = {
  symbol_search: "Symbols",
  text_search: "Text",
  vector_search: "Meaning",
  reranking: "Ranking",
};

/** A tool that runs, and what came of it. */
export function toolOf(event) {
  const sign = icon("half");
  const heard = h("span.unseen");
  const name = h("code.name", {}, event.tool_name);
  const about = h("span.about", {}, argumentsOf(event));
  const result = h("pre.result", { tabIndex: 0, role: "region", ariaLabel: `What ${event.tool_name} said` });
  const element = h("details.tool", {}, h("summary", {}, sign, heard, name, about), result);
  let status = "";
  const enter = (next) => {
    status = next;
    const [shape, tone, word] = STATUSES[next];
    turn(sign, shape);
    mark(element, "data-tone", tone);
    put(heard, word);
  };
  const tool = {
    element,
    show({ status: next, result: said }) {
      enter(next);
      put(result, next === "started" ? "It is still running." : shortened(textOf(said)) || "It said nothing.");
    },
    /** The turn has ended before it did. */
    give() {
      if (status !== "started") return;
      enter("given");
      put(result, "The turn ended before it did.");
    },
  };
  tool.show(event);
  return tool;
}

/** What it was called with, in a line. */
function argumentsOf({ args }) {
  if (args === null || typeof args !== "object") return String(args ?? "").slice(0, MOST_ARGUMENTS);
  return Object.entries(args).map(([name, value]) => argumentOf(name, value)).join("  ").slice(0, MOST_ARGUMENTS);
}

/** A command as one would type it; of changes the files. */
function argumentOf(name, value) {
  if (typeof value === "string") return value;
  const words = Array.isArray(value) && value.length ? value.map((each) => each?.file_path ?? each) : [null];
  if (!words.every((each) => typeof each === "string")) return `${name}: ${JSON.stringify(value)}`;
  return name === "argv" ? inQuotes(words) : [...new Set(words)].join(", ");
}

function textOf(result) {
  if (result === null || result === undefined) return "";
  if (typeof result === "string") return result;
  return typeof result.text === "string" ? result.text : JSON.stringify(result, null, 2);
}

function shortened(text) {
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}\n… ${format.count(text.length - MOST_SHOWN)} more characters`;
}

/** What a search found, and why each of it was chosen. */
export function retrievalOf({ stage, results_count: count, message, items = [] }) {
  const rows = items.slice(0, MOST_ITEMS).map(({ source, reason, score, tokens }) =>
    h("li", {}, h("code", {}, source), h("span.reason", {}, reason),
      h("span.score", {}, `${score.toFixed(2)}${tokens ? ` · ${format.count(tokens)} tokens` : ""}`)));
  const head = [icon("search"), h("b", {}, STAGES[stage] ?? stage), h("span.about", {}, message), h("span.badge", {}, format.count(count))];
  if (!rows.length) return h("p.retrieval", {}, ...head);
  return h("details.retrieval", {}, h("summary", {}, ...head), h("ol", {}, ...rows));
}

/**
 * A refusal of the policy says which rule it comes from.
 *
 * @param {{code: string, message: string, details?: Record<string, any>}} error
 */
export function failureOf({ code, message, details = {} }) {
  const policy = code === "POLICY_VIOLATION";
  const what = policy ? [details.tool_name, details.path ?? details.command].filter((each) => typeof each === "string" && each) : [];
  return h("p.failure", { "data-tone": policy ? "warn" : "bad", title: code }, icon(policy ? "lock" : "alarm"),
    h("span", {}, policy ? h("b", {}, "Refused by the policy. ") : null, message,
      what.length ? h("span.about", {}, " ", ...what.flatMap((each) => [h("code", {}, ...visible(each)), " "])) : null,
      policy && details.rule ? h("span.rule", {}, "Rule: ", h("code", {}, ...visible(String(details.rule)))) : null));
}

/** A change of a file that no request stands for. */
export function changeOf({ action, file_path: path, status, error }) {
  const done = status === "done";
  const word = done ? { create: "Made", modify: "Changed", delete: "Deleted" }[action] : status === "unknown" ? "Perhaps changed" : "Not changed";
  return h("p.note.change", { "data-tone": done ? "good" : status === "unknown" ? "warn" : "bad" }, icon(done ? "check" : "alarm"),
    h("span.sentence", {}, `${word}: `, h("code", {}, ...visible(path)), error ? h("span.why", {}, error) : null));
}

/** Events that are a line between others; null for those that are not shown. */
export function noteOf(event) {
  switch (event.type) {
    case "context.compacted":
      return h("details.note", {}, h("summary", {}, icon("fold"), "Earlier messages are told to the model as a summary"),
        h("p", {}, event.summary));
    case "model.changed":
      return h("p.note", {}, icon("sliders"), `From here on: ${event.model.model_name} (${event.model.provider})`);
    case "mode.changed":
      return h("p.note", {}, icon("sliders"), `The mode is ${event.mode} from here on${event.by ? `, approved${doneBy(event.by)}` : ""}`);
    case "policy.changed":
      return h("details.note", {}, h("summary", {}, icon("sliders"), "The policy of this workspace has changed"),
        h("ul.set", {}, ...setBy(event.change)));
    case "approval.remembered":
      return h("p.note", {}, icon("sliders"), h("span.sentence", {}, `Remembered for ${scopeOf(event)}: `, ...whatOf(event.approval)));
    case "approval.forgotten":
      return h("p.note", {}, icon("sliders"),
        h("span.sentence", {}, `Revoked, not allowed in ${scopeOf(event)} any more: `, ...whatOf(event.approval)));
    case "turn.undone": {
      const refused = event.files.filter(({ outcome }) => outcome === "refused").length;
      const word = `${event.redo ? "Done again" : "Undone"}${doneBy(event.by)}`;
      return h("details.note", {}, h("summary", {}, icon(event.redo ? "again" : "back"), word,
        h("span.about", {}, `${event.files.length - refused} of ${event.files.length} ${event.files.length === 1 ? "file" : "files"}`)),
      h("ul.files", {}, ...event.files.map(undoneFile)));
    }
    default:
      return null;
  }
}

const scopeOf = ({ approval }) => (approval.scope === "workspace" ? "this workspace" : "this session");

/** What the editor told of itself: the file and its selection, what was mentioned, how many diagnostics. */
export function contextOf(context = {}) {
  const { active_editor: editor, mentions = [], diagnostics = [], terminal_output: terminal } = context;
  const chips = [];
  if (editor) {
    const { start, end } = editor.selection ?? {};
    chips.push(`${editor.file_path}${start ? `:${start.line + 1}-${end.line + 1}` : ""}`);
  }
  for (const each of mentions.slice(0, 20)) chips.push(`@${each.path ?? each.name ?? each.file_path ?? each.type}`);
  if (diagnostics.length) chips.push(`${diagnostics.length} ${diagnostics.length === 1 ? "diagnostic" : "diagnostics"}`);
  if (terminal?.command) chips.push(`$ ${terminal.command}`);
  return chips.length ? h("ul.context", { ariaLabel: "Context" }, ...chips.map((each) => h("li", {}, each))) : null;
}
