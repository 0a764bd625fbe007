/**
 * <judge-settings>: the settings for running and comparing. `settings.show(panel)`, `settings.open()`.
 *
 * A field is sent when it loses the focus, alone, as the user wrote it. The server knows which values are allowed; if
 * it refuses one, the field says why (`refuse(sentence)`; true if the sentence was about fields that are in sight). A
 * change by another page is shown at once, but never replaces text that has been typed or was refused. A command is
 * chosen from those that the server's configuration names.
 *
 * Announces "setting" with the change as it is on the wire.
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";

/**
 * @typedef {import("../messages").Judge.RunSettings} Settings
 * @typedef {import("../messages").Judge.ShownProblem} Problem
 *
 * @type {{path: string, label: string, choices?: string[][], named?: string, unit?: string, number?: boolean, flag?: boolean,
 *   hint?: (settings: Settings, problem: Problem | null) => string, only?: (settings: Settings) => boolean}[]}
 */
const FIELDS = [
  { path: "interpreter", label: "Interpreter", choices: [["cpython", "CPython"], ["pypy", "PyPy"]] },
  { path: "pythonCommand", label: "CPython command", named: "python_command", choices: [] },
  { path: "pypyCommand", label: "PyPy command", named: "pypy_command", choices: [] },
  { path: "runCwdMode", label: "Working folder",
    choices: [["workspace", "The workspace"], ["task", "The problem's own"]] },
  { path: "timeoutMs", label: "Time limit", unit: "ms", number: true, hint: timeHint },
  { path: "memoryLimitMb", label: "Memory limit", unit: "MB", number: true, hint: memoryHint },
  { path: "jobs", label: "Cases at once", number: true, hint: () => "Empty: as many as there are cores" },
  { path: "compare.mode", label: "Comparison", hint: ({ compare }) => MODES[compare.mode] ?? "", choices: [
    ["exact", "Exact"], ["trim", "Ends trimmed"], ["tokens", "Word for word"], ["float", "Numbers with tolerance"]] },
  { path: "compare.tolerance", label: "Tolerance", number: true, only: ({ compare }) => compare.mode === "float",
    hint: () => "Absolute or relative, whichever allows more" },
  { path: "compare.caseSensitive", label: "Capitals matter", flag: true },
];

const MODES = {
  exact: "Every character counts",
  trim: "Blanks at the ends of lines and empty lines at the end do not count",
  tokens: "Only the words count, not the blanks between them",
  float: "As word for word, but numbers may differ by the tolerance",
};

function timeHint(_, problem) {
  const own = problem ? `, ${format.count(Math.ceil(problem.timeLimit * 1.2))} ms` : "";
  return `Empty: a fifth more than the problem's own${own}`;
}

function memoryHint(_, problem) {
  return `Empty: the problem's own${problem?.memoryLimit ? `, ${format.count(problem.memoryLimit)} MB` : ""}. 0: none`;
}

const valueAt = (settings, path) => path.split(".").reduce((value, name) => value?.[name], settings);
const changeAt = (path, value) => path.split(".").reduceRight((inner, name) => ({ [name]: inner }), value);

class JudgeSettings extends HouseElement {
  #fields = new Map();
  #sent = new Map(); // path -> the settings at the time when a change was sent whose answer has not come yet
  #written = new Map(); // path -> the text that was last written into the field for the user to see
  /** @type {import("../messages").Judge.RunSettings | null} */
  #settings = null;
  #dialog = h("dialog", { ariaLabel: "Settings" });

  build() {
    const close = h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"));
    const fields = FIELDS.map((field) => this.#make(field));
    this.#dialog.append(h("header", {}, h("h2", {}, "Settings"), close),
      h("p.about", {}, "Kept by the server, for every page and every problem."), h("div.fields", {}, ...fields));
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.append(this.#dialog);
  }

  get isOpen() {
    return this.#dialog.open;
  }

  open() {
    if (this.#dialog.open) return;
    this.#dialog.showModal();
    this.#fields.get(FIELDS[0].path).input.focus();
  }

  /** @param {import("./panel.js").Panel} panel */
  show({ settings, problem, commands }) {
    if (!settings) return;
    this.#settings = settings;
    for (const field of FIELDS) {
      const { row, input, hint } = this.#fields.get(field.path);
      row.hidden = field.only ? !field.only(settings) : false;
      if (field.hint) put(hint, field.hint(settings, problem));
      if (field.named) {
        const names = commands?.[field.path] ?? [];
        offer(input, names.includes(settings[field.path]) ? names : [settings[field.path], ...names]);
        put(hint, `${input.options.length > 1 ? "Named" : "Others can be named"} in the configuration: ${
          field.named} under [judge]`);
      }
      if (this.#sent.get(field.path) === settings) continue;
      this.#sent.delete(field.path);
      const value = valueAt(settings, field.path);
      if (field.flag) input.checked = value;
      else if (field.choices) input.value = value;
      else this.#write(field, String(value ?? ""));
    }
  }

  /** Writes into a field, unless the user has done so and has not left it, or what was written was refused. */
  #write({ path }, text) {
    const { input } = this.#fields.get(path);
    const typed = document.activeElement === input && input.value !== this.#written.get(path);
    if (typed || input.ariaInvalid) return;
    this.#written.set(path, text);
    if (input.value !== text) input.value = text;
  }

  /** Shows at the fields why the server has refused them. */
  refuse(sentence) {
    if (!this.isOpen) return false;
    const found = FIELDS.map(({ path }) => ({ path, at: sentence.search(mentions(path)) }))
      .filter(({ at }) => at !== -1).sort((a, b) => a.at - b.at);
    found.forEach(({ path, at }, number) => {
      const part = sentence.slice(at, found[number + 1]?.at).replace(/[;\s]+$/, "");
      this.#mark(path, part.slice(path.length).trim().replace(/\bor null\b/, "or empty")); // in a field, null is empty
    });
    return found.length > 0;
  }

  #make(field) {
    const id = `setting-${field.path.replace(".", "-")}`;
    const input = control(field, id);
    const hint = h("p.hint", { id: `${id}-hint` });
    const error = h("p.error", { id: `${id}-error`, role: "alert", hidden: true });
    mark(input, "aria-describedby", `${hint.id} ${error.id}`);
    input.addEventListener("change", () => this.#change(field));
    input.addEventListener("blur", () => this.announce("redraw"));
    const unit = field.unit ? h("span.unit", {}, field.unit) : null;
    const row = h("div.field", { "data-path": field.path }, h("label", { htmlFor: id }, field.label),
      h("div.control", {}, input, unit), hint, error);
    this.#fields.set(field.path, { row, input, hint, error });
    return row;
  }

  #change(field) {
    this.#mark(field.path, null);
    this.#sent.set(field.path, this.#settings);
    this.announce("setting", changeAt(field.path, this.#value(field)));
  }

  #value({ path, flag, number }) {
    const { input } = this.#fields.get(path);
    if (flag) return input.checked;
    const text = input.value.trim();
    if (!number) return text;
    return text === "" ? null : Number.isFinite(Number(text)) ? Number(text) : text;
  }

  #mark(path, sentence) {
    const { input, error } = this.#fields.get(path);
    mark(input, "aria-invalid", sentence ? "true" : null);
    error.hidden = !sentence;
    put(error, sentence ? sentence[0].toUpperCase() + sentence.slice(1) : "");
  }
}

function control({ choices, flag, number }, id) {
  if (choices) return h("select", { id }, ...choices.map(([value, word]) => h("option", { value }, word)));
  if (flag) return h("input", { id, type: "checkbox" });
  const inputMode = number ? "decimal" : "text";
  return h("input", { id, type: "text", autocomplete: "off", spellcheck: false, inputMode });
}

/** Sets the options of a list. If they are the same as before, they are left alone, so that an open list is not closed.
*/
function offer(select, names) {
  if ([...select.options].map(({ value }) => value).join("\n") === names.join("\n")) return;
  select.replaceChildren(...names.map((value) => h("option", { value }, value)));
}

/** Matches the place where a sentence is about a setting: "timeoutMs must be ...". */
function mentions(path) {
  return new RegExp(`(?<![\\w.])${path.replace(".", "\\.")}(?= (?:must|is)\\b)`);
}

customElements.define("judge-settings", JudgeSettings);
