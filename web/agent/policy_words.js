/**
 * What the agent may do, in words: the fields of a policy, what an approval allows, and how either has changed.
 */

import { h } from "../house/house.js";
import { DELETES } from "./requests.js";
import { inQuotes, visible } from "./visible.js";

/** @type {[name: string, label: string, about: string][]} */
export const LISTS = [
  ["blocked_globs", "Files that it never touches", "One pattern a line, such as secrets/**. This wins over all below."],
  ["allowed_read_globs", "Files that it may read", ""],
  ["allowed_write_globs", "Files that it may change", ""],
  ["blocked_commands", "Commands that it never runs", "The words with which such a command begins, one a line. This wins over all below."],
  ["allowed_commands", "Commands that it may run without asking", "Such as: npm test"],
  ["auto_approve_tools", "Tools that need no answer", "Their names, one a line."],
];
/** @type {[name: string, label: string][]} */
export const SWITCHES = [
  ["auto_approve_simple_changes", "Make small changes of a file (under ten lines) without asking"],
  ["auto_approve_tests", "Run the workspace's tests without asking"],
  ["network_enabled", "Commands may reach the network"],
];
/** @type {[name: string, label: string, options: [value: string, label: string][]][]} */
export const CHOICES = [
  ["command_approval", "Commands", [["prompt", "Ask for those that are not allowed below"], ["always", "Ask for each one"], ["never", "Do not ask"]]],
  ["execution_mode", "Where commands run", [["server_runner", "Here, by the server"], ["local_terminal", "In the editor's terminal, if it has one"]]],
  ["patch_application", "Who writes changes", [["server", "The server"], ["client", "The editor, if it can"]]],
];

const TIMEOUT = ["approval_timeout_s", "A request counts as rejected after so many seconds"];
const WORDS = new Map([...LISTS, ...SWITCHES, ...CHOICES, TIMEOUT].map(([name, label]) => [name, label]));

/**
 * What a change of the policy has set, a line for each field.
 *
 * @param {Record<string, any>} change
 */
export function setBy(change) {
  return Object.entries(change).filter(([, value]) => value !== null && value !== undefined).map(([name, value]) =>
    h("li", {}, `${WORDS.get(name) ?? name}: `, ...valueOf(name, value)));
}

function valueOf(name, value) {
  if (typeof value === "boolean") return [value ? "yes" : "no"];
  if (Array.isArray(value)) return value.length ? value.flatMap((each, at) => [at ? ", " : "", h("code", {}, ...visible(String(each)))]) : ["none"];
  const options = CHOICES.find(([each]) => each === name)?.[2];
  return visible(options?.find(([each]) => each === value)?.[1] ?? String(value));
}

/** What an approval allows, in short. */
function nameOf({ kind, argv = [], exactly, path, tool_name: tool }) {
  if (exactly) return exactly.line || inQuotes(exactly.argv ?? []);
  return kind === "command" ? inQuotes(argv) : kind === "path" ? path : tool;
}

/**
 * What an approval allows, as parts of a line.
 *
 * @param {any} approval
 */
export function whatOf(approval) {
  const word = { command: "Commands that begin with ", path: "Changes of ", tool: "The tool " }[approval.kind];
  const name = h("code", {}, ...visible(nameOf(approval) ?? ""));
  if (approval.kind === "tool" && approval.tool_name === DELETES) return ["The deletion of any file"];
  if (!approval.exactly) return [word, name];
  return ["Exactly the command ", name, ...(approval.exactly.folder ? [" in ", h("code", {}, ...visible(approval.exactly.folder))] : [" in the workspace's own folder"])];
}
