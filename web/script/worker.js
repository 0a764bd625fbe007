/**
 * The worker in which a script runs, with Pyodide. It lives for one run.
 *
 *   page -> worker   {type: "init", address, wheel, interrupt}   load; `interrupt` is memory shared with the page
 *                    {type: "run", source, scriptPath}
 *                    {type: "stop"}                              received only while Python waits
 *                    {type: "sidekick", message}                 to the script, as text
 *   worker -> page   {type: "ready"}, {type: "running"}
 *                    {type: "terminated" | "stopped"}, {type: "error", error}
 *                    {type: "sidekick", data}                    from the script, as text
 *                    {type: "output", text}
 *
 * Rules
 *   - A busy script receives no messages. To stop it, the page writes a 2 (SIGINT) into `interrupt`, which Pyodide
 * checks
 *     all the time.
 *   - Messages from the page wait until the script listens.
 *   - Printed text is sent at once, because the script may sleep next. But if a script prints in a loop, only `AT_ONCE`
 *     posts are sent in each pause, and the rest is gathered.
 */

import { PYTHON } from "./python.js";

const PAUSE = 50; // milliseconds
const AT_ONCE = 20; // posts in one pause
const MOST = 256 * 1024; // characters of printed text that may wait
const MOST_WAITING = 1000; // messages that may wait for a script that does not listen yet

// --- output

let written = "";
let since = 0; // the beginning of this pause
let posts = 0; // posts sent in this pause
let timer = null;

function write(text) {
  if (!text) return;
  written += text;
  const now = performance.now();
  if (now - since > PAUSE) [since, posts] = [now, 0];
  if (posts < AT_ONCE || written.length > MOST) flush();
  else timer ??= setTimeout(flush, PAUSE);
}

function flush() {
  clearTimeout(timer);
  timer = null;
  if (!written) return;
  posts += 1;
  postMessage({ type: "output", text: written });
  written = "";
}

function writer() {
  const decoder = new TextDecoder();
  return {
    write(bytes) {
      write(decoder.decode(bytes, { stream: true }));
      return bytes.length;
    },
  };
}

function post(type, more = {}) {
  flush();
  postMessage({ type, ...more });
}

// --- js.sendHeroMessage and js.registerSidekickMessageHandler, as Python calls them

let handler = null;
let waiting = [];

const globals = /** @type {any} */ (globalThis);

globals.sendHeroMessage = (text) => post("sidekick", { data: String(text) });

globals.registerSidekickMessageHandler = (call) => {
  handler = call;
  const messages = waiting;
  waiting = [];
  messages.forEach(hand);
};

function hand(message) {
  if (handler === null) {
    if (waiting.length < MOST_WAITING) waiting.push(message);
    return;
  }
  try {
    handler(message);
  } catch (error) {
    handler = null; // sidekick.shutdown() destroys the function that it registered
    write(`The script no longer listens: ${error.message}\n`);
  }
}

// --- one run

export function attend(loadPyodide) {
  let pyodide = null;
  let performer = null;

  async function init({ address, wheel, interrupt }) {
    const started = await loadPyodide({ indexURL: address });
    started.setStdout(writer());
    started.setStderr(writer());
    if (interrupt) started.setInterruptBuffer(interrupt);
    if (wheel) {
      const answer = await fetch(wheel);
      if (!answer.ok) throw new Error(`${wheel}: the server answered ${answer.status}.`);
      started.unpackArchive(await answer.arrayBuffer(), "whl");
    }
    performer = started.runPython(PYTHON);
    pyodide = started;
    post("ready");
  }

  async function run({ source, scriptPath }) {
    post("running");
    try {
      await pyodide.loadPackagesFromImports(source, { messageCallback: () => {}, errorCallback: complain });
    } catch (error) {
      complain(error.message);
    }
    const [outcome, error] = JSON.parse(await performer.perform(source, scriptPath));
    post(outcome, error === undefined ? {} : { error });
  }

  function complain(text) {
    write(`${text}\n`);
  }

  const actions = {
    init,
    run,
    stop: () => performer?.give_up() || post("stopped"),
    sidekick: ({ message }) => hand(message),
  };

  self.onmessage = async ({ data }) => {
    try {
      await actions[data.type](data);
    } catch (error) {
      post("error", { error: String(error?.message ?? error) });
    }
  };
}
