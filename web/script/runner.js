/**
 * A runner: it runs the script of this page, each time in a new worker.
 *
 * Rules
 *   - A worker runs only one script, because Python would keep what the first one left behind.
 *   - A script that has come to its end stays in its worker: its callbacks receive the reader's input, until Stop or
 * Run.
 *   - A waiting script receives Stop as a message. A busy script receives no messages: after `HEARING` it is
 * interrupted
 *     through memory that the page and the worker share. If it still runs after `PATIENCE` (it catches all exceptions,
 *     or the browser cannot share memory), its worker is terminated.
 *
 * Events: "state"; "output" and "hero" with a text in `detail`. `error` says what went wrong when the state is "failed"
 * (the script did) or "broken" (Pyodide did).
 */

const HEARING = 100; // milliseconds
const PATIENCE = 1000;
const INTERRUPT = 2; // SIGINT

/** state -> message of the worker -> the next state */
const MOVES = {
  off: {},
  loading: { ready: "ready", error: "broken" },
  ready: { running: "running", error: "broken" },
  running: { terminated: "ended", stopped: "stopped", error: "failed" },
  ended: {},
  failed: {},
  stopping: { terminated: "stopped", stopped: "stopped", error: "stopped" },
  stopped: {},
  broken: {},
};
const ALIVE = new Set(["loading", "ready", "running", "ended", "failed", "stopping"]);
const STOPPABLE = new Set(["loading", "running", "ended", "failed"]);

export class Runner extends EventTarget {
  state = "off";
  error = "";

  #place;
  /** @type {Worker | null} */
  #worker = null;
  /** @type {Uint8Array | null} */
  #interrupt = null;
  /** @type {{type: "run", source: string, scriptPath: string} | null} */
  #next = null; // the script to run when Python is ready
  #timers = [];

  /** `place` is where Pyodide and the client's wheel are: {address, wheel}. */
  constructor(place) {
    super();
    this.#place = place;
  }

  get canStop() {
    return STOPPABLE.has(this.state) && (this.state !== "loading" || this.#next !== null);
  }

  get canRun() {
    return this.#next === null && !["running", "stopping"].includes(this.state);
  }

  /** Loads Python, so that the first run begins at once. */
  load() {
    this.#end();
    this.#interrupt = globalThis.crossOriginIsolated ? new Uint8Array(new SharedArrayBuffer(1)) : null;
    const worker = (this.#worker = new Worker("/script/worker.js", { type: "module" }));
    worker.onmessage = ({ data }) => this.#hear(data);
    worker.onerror = (event) => this.#crash(event);
    worker.postMessage({ type: "init", interrupt: this.#interrupt, ...this.#place });
    this.#enter("loading");
  }

  run(source, scriptPath) {
    if (!this.canRun) return;
    this.#next = { type: "run", source, scriptPath };
    if (this.state === "ready") this.#begin();
    else if (this.state !== "loading") this.load();
    else this.#enter("loading");
  }

  stop() {
    if (!this.canStop) return;
    if (this.state !== "running") {
      this.#next = null;
      this.#end();
      this.#enter("stopped");
      return;
    }
    this.#enter("stopping");
    this.#worker?.postMessage({ type: "stop" });
    const interrupt = () => this.#interrupt && Atomics.store(this.#interrupt, 0, INTERRUPT);
    const giveUp = () => this.#hear({ type: "stopped" });
    this.#timers = [setTimeout(interrupt, HEARING), setTimeout(giveUp, PATIENCE)];
  }

  /** Sends a message to the script; false if there is no script that could receive it. */
  say(message) {
    if (!this.#worker || !["running", "ended", "failed"].includes(this.state)) return false;
    this.#worker.postMessage({ type: "sidekick", message: JSON.stringify(message) });
    return true;
  }

  #begin() {
    this.#worker?.postMessage(this.#next);
    this.#next = null;
  }

  /** @param {{type: string, data?: string, text?: string, error?: string}} said */
  #hear({ type, data, text, error }) {
    if (type === "sidekick") this.#tell("hero", data);
    else if (type === "output") this.#tell("output", text);
    else {
      const state = MOVES[this.state][type];
      if (state === undefined) return;
      this.error = error ?? "";
      if (state === "stopped" || state === "broken") this.#end();
      this.#enter(state);
      if (state === "ready" && this.#next) this.#begin();
    }
  }

  /** An uncaught error in the worker. While it loads, this means that a module could not be fetched. */
  #crash(event) {
    event.preventDefault();
    const what = event.message || `${this.#place.address}pyodide.mjs could not be loaded.`;
    if (["loading", "ready"].includes(this.state)) this.#hear({ type: "error", error: what });
    else if (this.state !== "stopping") this.#tell("output", `${what}\n`);
  }

  #end() {
    this.#timers.forEach(clearTimeout);
    if (!this.#worker) return;
    this.#worker.onmessage = this.#worker.onerror = null;
    this.#worker.terminate();
    this.#worker = null;
  }

  #enter(state) {
    this.state = state;
    if (!ALIVE.has(state)) this.#next = null;
    this.dispatchEvent(new Event("state"));
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
