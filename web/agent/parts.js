/** The parts of a turn: a tool's run, a search, a failure, a note; and what the editor told with a message. */

import { format, h, icon, mark, put, turn } from "../house/house.js";

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

/** What it was called with, in a line. The plan's steps are shown where the plan is. */
function argumentsOf({ tool_name: name, args }) {
  if (args === null || typeof args !== "object") return String(args ?? "").slice(0, MOST_ARGUMENTS);
  if (name === "update_plan" && Array.isArray(args.steps)) {
    return `${args.current_step ? `step ${args.current_step} of ` : ""}${args.steps.length}${args.current_step ? "" : " steps"}`;
  }
  return Object.entries(args).map(([key, value]) => (typeof value === "string" ? value : `${key}: ${JSON.stringify(value)}`))
    .join("  ").slice(0, MOST_ARGUMENTS);
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

export function failureOf({ code, message }) {
  return h("p.failure", { "data-tone": "bad", title: code }, icon("alarm"), h("span", {}, message));
}

/** Events that are a line between others; null for those that are not shown. */
export function noteOf(event) {
  switch (event.type) {
    case "context.compacted":
      return h("details.note", {}, h("summary", {}, icon("fold"), "Earlier messages are told to the model as a summary"),
        h("p", {}, event.summary));
    case "model.changed":
      return h("p.note", {}, icon("sliders"), `From here on: ${event.model.model_name} (${event.model.provider})`);
    case "approval.resolved":
      return h("p.note", {}, icon(event.approved ? "check" : "cross"),
        `${event.approved ? "Approved" : "Refused"}${event.by ? ` by ${event.by}` : ""}${event.reason ? `: ${event.reason}` : ""}`);
    default:
      return null;
  }
}

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
