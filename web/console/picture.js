/**
 * The picture of the server: one Hello, and then Changes that are folded into it. Pure: the time is given to it.
 *
 * Nodes, systems and totals are the objects of the server's messages. They are never altered, only replaced, so a copy
 * of the picture (for a paused page) shares them.
 */

/** @import { Console } from "../messages" */

const TICKS = 60;
/** The kinds of notes. Each has a list of its own, so that none pushes out another. */
export const NOTES = /** @type {const} */ (["crashes", "stops", "dead", "departures"]);
const MOST_NOTES = 100; // of a kind

export class Picture {
  at = 0;
  interval = 1;
  version = "";
  pid = 0;
  started = 0;
  /** @type {Console.Totals | null} */
  totals = null;
  /** @type {Console.System[]} */
  systems = [];
  /** @type {Map<string, Console.Node>} */
  nodes = new Map(); // path -> node; parents before their children, children in start order
  histories = new Map(); // path -> Float32Array of TICKS, oldest first, NaN before the actor was known
  /** @type {Console.StopNote[]} */
  stops = []; // newest last
  /** @type {Console.StopNote[]} */
  departures = [];
  /** @type {Console.DeadNote[]} */
  dead = [];
  /** @type {Console.StopNote[]} */
  crashes = [];
  /** Grows with each message, so that a paused page can say how many are waiting. */
  ticks = 0;

  /** @type {Map<string, string[]> | null} */
  #children = null;
  #heardAt = 0;

  /**
   * Takes a message of the server.
   *
   * @param {Console.Message} message
   * @param {number} now
   */
  hear(message, now) {
    if (message.type === "hello") this.#hello(message);
    else if (message.type === "change") this.#change(message);
    else return;
    this.at = message.at;
    this.#heardAt = now;
    this.ticks += 1;
  }

  /** The current time of the server's clock. */
  time(now) {
    return this.at + (now - this.#heardAt) / 1000;
  }

  children(path) {
    this.#children ??= this.#sorted();
    return this.#children.get(path) ?? [];
  }

  #sorted() {
    /** @type {Map<string, string[]>} */
    const children = new Map();
    for (const [each, { parent }] of this.nodes) {
      const above = parent !== null && this.nodes.has(parent) ? parent : "";
      const beside = children.get(above);
      if (beside) beside.push(each);
      else children.set(above, [each]);
    }
    return children;
  }

  /** A copy that later messages do not alter. */
  copy() {
    const copy = Object.assign(new Picture(), this);
    copy.nodes = new Map(this.nodes);
    copy.histories = new Map([...this.histories].map(([path, values]) => [path, values.slice()]));
    copy.#heardAt = this.#heardAt;
    return copy;
  }

  /** @param {Console.Hello} message */
  #hello({ interval, version, pid, started, totals, systems, nodes, history, ...notes }) {
    const { crashes, stops, dead, departures } = notes;
    Object.assign(this, { interval, version, pid, started, totals, systems, crashes, stops, dead, departures });
    this.nodes = new Map(nodes.map((node) => [node.path, node]));
    const overall = history[""] ?? [];
    const nothing = overall.map(() => 0);
    this.histories = new Map([["", filled(overall)]]);
    for (const { path } of nodes) this.histories.set(path, filled(history[path] ?? nothing));
    this.#children = null;
  }

  /** @param {Console.Change} message */
  #change({ at, totals, systems, nodes, gone, ...notes }) {
    this.totals = totals;
    if (systems) this.systems = systems;
    for (const path of gone) {
      this.nodes.delete(path);
      this.histories.delete(path);
    }
    let reshaped = gone.length > 0;
    for (const node of nodes) {
      if (!this.nodes.has(node.path)) {
        reshaped = true;
        this.histories.set(node.path, filled([]));
      }
      this.nodes.set(node.path, node);
    }
    if (reshaped) this.#children = null;
    this.crashes = withMore(this.crashes, notes.crashes);
    this.stops = withMore(this.stops, notes.stops);
    this.dead = withMore(this.dead, notes.dead);
    this.departures = withMore(this.departures, notes.departures);

    // A node that is not mentioned went on as before. Ticks that never came (the server was busy) count as unchanged.
    const passed = Math.min(TICKS, Math.max(1, Math.round((at - this.at) / this.interval)));
    push(this.histories.get(""), totals.rate, passed);
    for (const [path, { inside }] of this.nodes) push(this.histories.get(path), inside, passed);
  }
}

/**
 * @template T
 * @param {T[]} notes
 * @param {T[]} more
 */
function withMore(notes, more) {
  return more.length ? [...notes, ...more].slice(-MOST_NOTES) : notes;
}

function filled(values) {
  const history = new Float32Array(TICKS).fill(NaN);
  const known = values.slice(-TICKS);
  history.set(known, TICKS - known.length);
  return history;
}

function push(history, value, times) {
  history.copyWithin(0, times);
  history.fill(value, TICKS - times);
}

/**
 * Whether a person should look at the actor, as the server says.
 *
 * @param {Console.Node} node
 */
export function isTrouble(node) {
  return node.trouble !== null;
}

/**
 * The name of an actor for people.
 *
 * @param {Console.Node} node
 */
export function nameOf(node) {
  return node.called ?? node.name;
}

/**
 * Its state in a word. An actor that runs but has crashed lately has a word of its own.
 *
 * @param {Console.Node} node
 */
export function stateOf(node) {
  return node.state === "running" && node.lately === "crashed" ? "restarted" : node.state;
}

/** @param {{queued: number, capacity: number}} node */
export function fullness({ queued, capacity }) {
  return capacity > 0 ? Math.min(1, queued / capacity) : 0;
}

/** `#/troupe/store` and back. */
export function hashOf(path) {
  return `#/${path.split("/").map(encodeURIComponent).join("/")}`;
}

export function pathOf(hash) {
  if (!hash.startsWith("#/")) return null;
  try {
    return hash.slice(2).split("/").map(decodeURIComponent).join("/") || null;
  } catch {
    return null; // a broken percent sign
  }
}
