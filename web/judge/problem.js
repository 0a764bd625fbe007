/**
 * <judge-problem>: the name of the shown problem, its origin and its limits, and whether it is pinned.
 * `element.show(problem, settings, pinned)`. Announces "pin".
 */

import { HouseElement, format, h, icon, mark, put, safeLink } from "../house/house.js";

class JudgeProblem extends HouseElement {
  #name = h("h1");
  #group = h("span.group");
  #link = h("a", { target: "_blank", rel: "noopener noreferrer" });
  #linkWord = h("span");
  #limits = h("span.limits");
  #file = h("button.link.file", { type: "button" });
  #pin = h("button.link.pin", { type: "button", onclick: () => this.announce("pin") });
  #why = h("p.unsupported", {}, icon("alarm"));
  #whyWord = h("span");

  build() {
    this.#link.append(this.#linkWord, icon("out"));
    this.#why.append(this.#whyWord);
    this.append(this.#name, h("p.about", {}, this.#group, this.#link, this.#limits, this.#file, this.#pin), this.#why);
  }

  /**
   * @param {import("../messages").Judge.ShownProblem | null} problem
   * @param {import("../messages").Judge.RunSettings | null} settings
   * @param {boolean} pinned
   */
  show(problem, settings, pinned) {
    this.hidden = !problem;
    if (!problem || !settings) return;
    const { name, group, contestId, url, mainPath, unsupported, trouble } = problem;
    put(this.#name, name);
    put(this.#group, group || contestId);
    const href = safeLink(url);
    this.#link.hidden = !href;
    mark(this.#link, "href", href);
    if (href) put(this.#linkWord, new URL(href).hostname.replace(/^www\./, ""));
    put(this.#limits, limits(problem, settings).join(" · "));
    this.#file.hidden = !mainPath;
    if (mainPath) {
      put(this.#file, mainPath.split(/[\\/]/).at(-1));
      this.#file.title = `Copy ${mainPath}`;
      this.#file.ariaLabel = `Copy the path of ${this.#file.textContent}`;
      this.#file.onclick = () => this.announce("clip", mainPath);
    }
    put(this.#pin, pinned ? "pinned" : "pin");
    mark(this.#pin, "aria-pressed", String(pinned));
    mark(this.#pin, "title", pinned ? "The page stays here when another problem comes in (t)"
      : "Stay here when another problem comes in (t)");
    const gone = `Its folder is gone: ${folderOf(mainPath)}. Put it back, or send the problem again.`;
    const why = problem.gone ? gone : [trouble, unsupported].filter(Boolean).join(" ");
    this.#why.hidden = !why;
    put(this.#whyWord, why);
  }
}

const folderOf = (path) => path?.replace(/[\\/][^\\/]*$/, "") ?? "";

/**
 * @param {import("../messages").Judge.ShownProblem} problem
 * @param {import("../messages").Judge.RunSettings} settings
 */
function limits({ timeLimit, memoryLimit, input, output, testType, interactive }, { timeoutMs, memoryLimitMb }) {
  const memory = memoryLimitMb ?? memoryLimit;
  return [
    timeoutMs ? `stopped after ${seconds(timeoutMs)}` : seconds(timeLimit),
    memory ? `${format.count(memory)} MB` : null,
    testType === "multiNumber" ? "several tests in one input" : null,
    input?.type === "file" ? `reads ${input.fileName}` : null,
    output?.type === "file" ? `writes ${output.fileName}` : null,
    interactive ? "interactive" : null,
  ].filter(Boolean);
}

const seconds = (ms) => (ms % 100 === 0 ? `${ms / 1000} s` : `${format.count(ms)} ms`);

customElements.define("judge-problem", JudgeProblem);
