/**
 * What the agent asks in a session: each request, from the event that asks to the answer.
 *
 *   told       nobody is asked: the event says what is about to be done
 *   waiting    for an answer, from this window or another one
 *   sent       this page has answered, and the server has not said so yet
 *   settled    approval.resolved has come
 *   over       its turn has ended, or the server does not know it any more
 *
 *   waiting --answer--> sent --approval.resolved--> settled
 *   waiting, sent --approval.resolved--> settled;  --turn's end, or missing in session.state--> over
 *   sent --the connection is lost, or the server refuses something--> waiting
 *
 * Events: "change" with the request in `detail`.
 *
 * @typedef {"told" | "waiting" | "sent" | "settled" | "over"} State
 * @typedef {{id: string, kind: "patch" | "command" | "tool", event: any, state: State, resolution: any, live: boolean}} Request
 */

import { inCodes } from "./visible.js";

export const DELETES = "delete_file";
const KINDS = { "patch.proposed": "patch", "command.request_approval": "command", "tool.request_approval": "tool" };

export class Requests extends EventTarget {
  /** @type {Map<string, Request>} */
  #all = new Map();

  /** @returns {Request | undefined} */
  get(id) {
    return this.#all.get(id);
  }

  /** Those that wait for an answer, oldest first. */
  get waiting() {
    return [...this.#all.values()].filter(({ state }) => state === "waiting" || state === "sent");
  }

  /** Hears an event of the log. `live`: it has just happened. */
  hear(event, live) {
    const kind = KINDS[event.type];
    if (kind) {
      const id = idOf(event);
      const state = event.requires_approval === false ? "told" : "waiting";
      this.#all.set(id, { id, kind, event, state, resolution: null, live });
      this.#tell(id);
    } else if (event.type === "approval.resolved") {
      const known = this.#all.get(event.request_id);
      if (known) this.#enter(known, "settled", event);
    } else if (event.type === "assistant.message_final") {
      for (const each of this.waiting) this.#enter(each, "over");
    }
  }

  /** Hears how things are: what is not known there any more, though the server has told of later things, is over. */
  compare(state, lastSeq) {
    if (!state.requests) return;
    const known = new Set(state.requests.map(({ request_id: id }) => id));
    for (const each of this.waiting) {
      if (!known.has(each.id) && (each.event.seq ?? 0) <= lastSeq && !state.pending_approvals?.includes(each.id)) this.#enter(each, "over");
    }
  }

  sent(id) {
    const known = this.#all.get(id);
    if (known?.state === "waiting") this.#enter(known, "sent");
  }

  /** What was sent may not have arrived: it can be answered again, and if it was answered, that is told. */
  unsent() {
    for (const each of this.waiting) if (each.state === "sent") this.#enter(each, "waiting");
  }

  #enter(request, state, resolution = request.resolution) {
    request.state = state;
    request.resolution = resolution;
    this.#tell(request.id);
  }

  #tell(id) {
    this.dispatchEvent(new CustomEvent("change", { detail: this.#all.get(id) }));
  }
}

/** The id by which a request is answered. */
export function idOf(event) {
  return event.request_id || event.patch_id || event.command_id;
}

/** What is asked, in a few words. `most`: of a longer path only the end, which tells it from others. */
export function titleOf({ kind, event }, most = Infinity) {
  switch (kind) {
    case "patch": return `${{ create: "New file", modify: "Change of", delete: "Delete" }[event.action ?? "modify"]} ${endOf(inCodes(event.file_path), most)}`;
    case "command": return `Run ${inCodes(event.command)}`;
    default: {
      const path = deletedBy(event);
      return path === null ? `Use ${inCodes(event.tool_name)}` : `Delete ${endOf(inCodes(path), most)}`;
    }
  }
}

/** The file that a tool is to delete; null: it does something else. */
export function deletedBy({ tool_name: tool, args }) {
  return tool === DELETES && typeof args?.file_path === "string" ? args.file_path : null;
}

/** With all of its name, unless that alone is far longer. */
function endOf(path, most) {
  if (path.length <= most) return path;
  const at = path.indexOf("/", path.length - most);
  const from = at === -1 ? path.lastIndexOf("/") : at;
  return `…${path.slice(Math.max(from, path.length - 2 * most))}`;
}
