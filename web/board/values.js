/**
 * Python values as a viz shows them, and how the script's changes apply to them. Pure.
 *
 * A node is {type, value, length, id, observableTracked}; its value may be an array of nodes (list, set), an array of
 * {key, value} (dict) or an object of nodes by name (objects).
 *
 * Rules
 *   - A script sends only the first items of a container. Its note about that ("truncated") is removed, and `length`
 *     alone says how many items there are. A change to an item that was not sent changes only the length. A new item of
 *     a set or a dict is shown in any case, and so is one at the end of a list: `tail` has those that stand there, while
 *     there are others in between. To a page that comes later the server sends them behind a note with `hidden`.
 *   - A segment of a path is an index in a list, a key in a dict (a tuple as a key is an array in the path; None is
 *     null; 1, 1.0 and True are one key, as in Python), or a name in an object.
 *   - A change whose path leads nowhere leaves the values as they are.
 *
 * The server keeps the same nodes by the same rules (actors/sidekick/scene/nodes.py), for pages that come later.
 *
 * `change()` returns the nodes that it touched: those along the path, and the new ones at its end. A variable that is
 * set again is compared with its earlier value. A variable that is set for the first time has not changed.
 */

const NONE = "NoneType";

export const isSequence = (node) => Array.isArray(node?.value) && !isDict(node);
const isDict = (node) => Array.isArray(node?.value) && (node.type === "dict" || isPair(node.value[0]));
export const isObject = (node) => isRecord(node?.value);
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isPair = (item) => isRecord(item) && isRecord(item.key) && isRecord(item.value);
const isCut = (node) => node?.type === "truncated" && String(node.value).startsWith("...");
const isGap = (node) => node?.type === "truncated" && Number.isInteger(node.hidden);
/** @type {readonly object[]} */
const NOTHING = [];
const tailOf = (node) => node.tail ?? NOTHING;

/** A copy of a node that can be changed: without the script's notes about items that it left out. Whatever is no node
becomes one that says so. */
export function taken(node) {
  if (!isRecord(node) || typeof node.type !== "string") return { type: "error", value: "The script sent nothing that can be shown." };
  if (isSequence(node)) {
    const gap = node.length >= node.value.length ? node.value.findIndex(isGap) : -1;
    if (gap >= 0) {
      return { ...node, value: node.value.slice(0, gap).map(taken), tail: node.value.slice(gap + 1).map(taken) };
    }
    const items = (isCut(node.value.at(-1)) ? node.value.slice(0, -1) : node.value).map(taken);
    return { ...node, value: items, length: node.length ?? items.length };
  }
  if (isDict(node)) {
    const own = node.value.filter((item) => item?.key?.type !== "truncated_key");
    const pairs = own.map((item) => ({ key: taken(item?.key), value: taken(item?.value) }));
    return { ...node, value: pairs, length: node.length ?? pairs.length };
  }
  if (isObject(node)) {
    const parts = Object.entries(node.value).filter(([name, part]) => !(name === "..." && isCut(part)));
    const value = Object.fromEntries(parts.map(([name, part]) => [name, taken(part)]));
    return { ...node, value, length: node.length ?? parts.length };
  }
  return node;
}

/** The first `most` items of a node, in order: [{label, node}]. */
export function inside(node, most = Infinity) {
  const first = (items) => (items.length > most ? items.slice(0, most) : items);
  if (isDict(node)) return first(node.value).map(({ key, value }) => ({ label: short(key), node: value }));
  const number = (index) => (node.type === "set" ? "" : String(index));
  if (isSequence(node)) return itemsOf(node, first).map(({ at, item }) => ({ label: number(at), node: item }));
  if (isObject(node)) return first(Object.entries(node.value)).map(([name, part]) => ({ label: name, node: part }));
  return [];
}

/**
 * Where they stand in the list; and a note, where items are not shown that stand between others. `first` cuts an array: a
 * list may be long, and of most only the beginning is drawn.
 */
function itemsOf(node, first) {
  const items = first(node.value).map((item, at) => ({ at, item }));
  const tail = tailOf(node);
  if (!tail.length) return items;
  const from = node.length - tail.length;
  const note = { type: "truncated", value: `… ${from - node.value.length} more` };
  return first([...items, { at: "", item: note }, ...first(tail).map((item, at) => ({ at: from + at, item }))]);
}

export const isContainer = (node) => isSequence(node) || isDict(node) || isObject(node);

// --- paths

function keyIs(key, segment) {
  if (Array.isArray(segment)) {
    const same = isSequence(key) && key.value.length === segment.length;
    return same && key.value.every((item, at) => keyIs(item, segment[at]));
  }
  if (segment === null) return key.type === NONE;
  if (key.type === NONE) return false;
  if (typeof segment === "string" || typeof key.value === "string") return key.value === segment;
  return Number(key.value) === Number(segment) && !isContainer(key);
}

function indexOf(node, segment) {
  if (isDict(node)) {
    const found = node.value.findIndex(({ key }) => keyIs(key, segment));
    return found >= 0 ? found : node.value.findIndex(({ key }) => key.id !== undefined && key.id === segment);
  }
  if (!Number.isInteger(segment)) return -1;
  return segment < 0 ? segment + node.length : segment;
}

/** The array in which a list's item is shown, and its index there, which is none if it is not shown. */
function placed(node, at) {
  if (at < node.value.length) return [node.value, at];
  return [tailOf(node), at - (node.length - tailOf(node).length)];
}

function step(node, segment) {
  if (isDict(node)) return node.value[indexOf(node, segment)]?.value;
  if (isSequence(node)) {
    const [items, at] = placed(node, indexOf(node, segment));
    return items[at];
  }
  if (isObject(node)) return Object.hasOwn(node.value, segment) ? node.value[segment] : undefined;
  return undefined;
}

/** The nodes from the root along a path, as far as they exist. */
function way(root, path) {
  const nodes = [root];
  for (const segment of path) {
    const next = step(nodes.at(-1), segment);
    if (!next) break;
    nodes.push(next);
  }
  return nodes;
}

// --- changes

const sizeOf = (node) => (isObject(node) ? Object.keys(node.value).length : node.value.length + tailOf(node).length);
const isWhole = (node) => sizeOf(node) >= node.length;

/** Where no items are hidden any more, there is no gap. */
function settle(node, length) {
  node.length = length;
  if (!node.tail || !isWhole(node)) return;
  node.value = node.value.concat(node.tail); // to push as many arguments at once may be more than a stack holds
  delete node.tail;
}

function setIn(node, segment, value, key, length) {
  let more = 0;
  const whole = isWhole(node);
  if (isObject(node)) {
    if (typeof segment !== "string") return;
    if (whole && !Object.hasOwn(node.value, segment)) more = 1;
    node.value[segment] = value;
  } else {
    const at = indexOf(node, segment);
    if (isDict(node) && at >= 0) node.value[at].value = value;
    else if (isDict(node)) {
      node.value.push({ key: keyNode(key, segment), value });
      more = whole ? 1 : 0;
    } else {
      const [items, place] = placed(node, at);
      if (place >= 0 && place < items.length) items[place] = value;
    }
  }
  settle(node, length ?? node.length + more);
}

/** The node of a dict's key. Some clients send NoneType for every key; then it is made from the path. */
function keyNode(key, segment) {
  if (key && (key.type !== NONE || segment === null)) return key;
  if (Array.isArray(segment)) {
    return { type: "list", value: segment.map((part) => keyNode(null, part)), length: segment.length };
  }
  const type = { string: "str", boolean: "bool", number: Number.isInteger(segment) ? "int" : "float" }[typeof segment];
  return type ? { type, value: segment } : { type: NONE, value: "None" };
}

/** Inserts an item as Python does: an index that is too small or too large means the beginning or the end. */
function insertIn(node, index, value, length) {
  if (!isSequence(node) || !Number.isInteger(index)) return;
  const at = Math.min(node.length, Math.max(0, indexOf(node, index)));
  const inTail = at - (node.length - tailOf(node).length);
  if (at < node.value.length + isWhole(node)) node.value.splice(at, 0, value);
  else if (inTail >= 0) (node.tail ??= []).splice(inTail, 0, value);
  settle(node, length ?? node.length + 1);
}

/** If the list has grown by more than this, what came before was lost on its way. */
function appendTo(node, value, length) {
  if (length > node.length + 1) {
    delete node.tail;
    node.length = length - 1;
  }
  if (!isWhole(node)) return insertIn(node, node.length, value, length);
  node.value.push(value); // perhaps more items are shown than there are, for nobody knows which have gone
  settle(node, length ?? node.length + 1);
}

function removeFrom(node, segment, length) {
  let less = isWhole(node) ? 0 : 1;
  if (isObject(node)) {
    if (Object.hasOwn(node.value, segment)) less = 1;
    delete node.value[segment];
  } else {
    const at = indexOf(node, segment);
    if (isSequence(node)) less = at >= 0 && at < node.length ? 1 : 0;
    const [items, place] = isSequence(node) ? placed(node, at) : [node.value, at];
    if (place >= 0 && place < items.length) {
      items.splice(place, 1);
      less = 1;
    }
  }
  settle(node, length ?? Math.max(0, node.length - less));
}

function sameValue(one, other) {
  if (one.type !== other.type) return false;
  if (isContainer(one)) return JSON.stringify(one.value, bare) === JSON.stringify(other.value, bare);
  return one.value === other.value;
}

const bare = (name, value) => (name === "id" || name === "observableTracked" ? undefined : value);

/** The array in which an element of a set is shown, and its index there. */
function placeOf(set, value) {
  for (const items of [set.value, tailOf(set)]) {
    const at = items.findIndex((item) => item.id === value.id || sameValue(item, value));
    if (at >= 0) return [items, at];
  }
  return null;
}

function addTo(node, value, length) {
  const known = (length ?? null) === null ? placeOf(node, value) !== null : length <= node.length;
  if (!known) node.value.push(value);
  settle(node, length ?? node.length + (known ? 0 : 1));
}

/** Removes an item from a set. Released clients do not tell which one (they send None): then only an empty set is
certain. */
function discardFrom(node, value, length) {
  let less = 0;
  if (value && value.type !== NONE) {
    const place = placeOf(node, value);
    less = place || !isWhole(node) ? 1 : 0;
    if (place) place[0].splice(place[1], 1);
  }
  settle(node, length ?? Math.max(0, node.length - less));
  if (node.length === 0) node.value = [];
}

/** The nodes that differ from the earlier ones in their place, and the nodes around them. */
function differing(before, now) {
  if (!before || before.type !== now.type || isContainer(before) !== isContainer(now)) return [now];
  if (!isContainer(now)) return before.value === now.value ? [] : [now];
  const old = inside(before);
  const named = new Map(old.map(({ label, node }) => [label, node]));
  const inner = inside(now).flatMap(({ label, node }, index) =>
    differing(isSequence(now) ? old[index]?.node : named.get(label), node));
  return inner.length || before.length !== now.length ? [now, ...inner] : [];
}

/**
 * Changes one of `variables` (name -> node) as the payload of an update says. Returns the nodes that it touched, from
 * the root to the innermost; null for an unknown kind of change.
 */
export function change(variables, { action, variableName: name, options }) {
  const { path: given, valueRepresentation, keyRepresentation, length } = options ?? {};
  const path = given ?? [];
  const value = valueRepresentation ? taken(valueRepresentation) : null;
  const key = keyRepresentation ? taken(keyRepresentation) : null;
  if (action === "removeVariable") {
    variables.delete(name);
    return [];
  }
  if (action === "set" && path.length === 0) {
    const node = value ?? taken(null);
    const before = variables.get(name);
    variables.set(name, node);
    return before ? differing(before, node) : [];
  }
  const root = variables.get(name);
  if (!root) return [];
  const nodes = way(root, path);
  const last = path.at(-1);
  const target = nodes.length === path.length + 1 ? nodes.at(-1) : null;
  const box = nodes.length >= path.length ? nodes[path.length - 1] : null; // the node that contains the last segment
  const list = isSequence(target) ? target : box;
  switch (action) {
    case "set":
    case "setitem":
      if (box && value) setIn(box, last, value, key, length);
      break;
    case "append":
      if (isSequence(list) && value) appendTo(list, value, length);
      break;
    case "insert":
      if (box && value) insertIn(box, last, value, length);
      break;
    case "pop":
    case "remove":
    case "delitem":
      if (isContainer(box)) removeFrom(box, last, length);
      break;
    case "add_set":
      if (isSequence(target) && value) addTo(target, value, length);
      break;
    case "discard_set":
      if (isSequence(target)) discardFrom(target, value, length);
      break;
    case "clear":
      if (isContainer(target)) Object.assign(target, { value: isObject(target) ? {} : [], length: 0, tail: undefined });
      break;
    default:
      return null;
  }
  const touched = path.length ? nodes.slice(0, path.length) : nodes;
  if (list === target && path.length) touched.push(target);
  return value && action !== "discard_set" ? [...touched, value] : touched;
}

// --- words

const OPEN = { list: "[]", set: "{}", dict: "{}", tuple: "()" };

/** A value without items, as Python would write it. */
export function word(node) {
  const { type, value } = node;
  if (type === NONE) return "None";
  if (type === "str") return quoted(String(value));
  if (type === "bool" || typeof value === "boolean") return value === true ? "True" : "False";
  if (type === "float" && Number.isInteger(value) && Math.abs(value) < 1e16) return `${value}.0`;
  if (type === "int" && typeof value === "number" && !Number.isSafeInteger(value)) return `≈ ${value.toPrecision(6)}`;
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
}

/** Any value in a short form, including containers: "[3, 1, 2, …]". */
export function short(node, room = 60) {
  if (!isContainer(node)) {
    const text = word(node);
    return text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text;
  }
  const [open, close] = OPEN[node.type] ?? "[]";
  const parts = [];
  let left = room;
  const items = inside(node, room);
  for (const { label, node: part } of items) {
    const text = short(part, Math.min(left, 20));
    const whole = isSequence(node) ? text : isDict(node) ? `${label}: ${text}` : `${label}=${text}`;
    if (whole.length > left) break;
    parts.push(whole);
    left -= whole.length + 2;
  }
  const most = tailOf(node).length ? items.length : node.length;
  const rest = parts.length < (most ?? parts.length) ? [...parts, "…"] : parts;
  if (isObject(node) && rest.length === 0) rest.push("…"); // of bytes, for one, released clients tell nothing
  if (isObject(node)) return `${/\((.*)\)/.exec(node.type)?.[1] ?? node.type}(${rest.join(", ")})`;
  return node.type === "set" && rest.length === 0 ? "set()" : `${open}${rest.join(", ")}${close}`;
}
