/**
 * What a script that runs in this page says, in the words of the board.
 *
 * A script elsewhere is understood by the server (codec/sidekick/), which the page hears in canonical form. A script in
 * the page is heard directly: released clients (0.0.7) say other words for a markdown and a textbox, and write NaN and
 * Infinity bare, which is no JSON.
 */

/** component -> action (none: a spawn) -> the canonical action, and the canonical names of fields. */
const WORDS = {
  markdown: {
    spawn: { fields: { text: "initialSource" } },
    setText: { action: "setSource", fields: { text: "source" } },
  },
  textbox: { spawn: { fields: { value: "initialValue" } } },
};

const STRING_OR_BARE = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

function renamed(fields, names) {
  return Object.fromEntries(Object.entries(fields ?? {}).map(([name, value]) => {
    const canonical = names[name];
    return [canonical !== undefined && !Object.hasOwn(fields, canonical) ? canonical : name, value];
  }));
}

function canonical(message) {
  const { component, type, payload } = message ?? {};
  const words = Object.hasOwn(WORDS, component) ? WORDS[component] : {};
  const action = type === "spawn" ? "spawn" : type === "update" ? payload?.action : undefined;
  if (!Object.hasOwn(words, action)) return message;
  const { fields } = words[action];
  if (action === "spawn") return { ...message, payload: renamed(payload, fields) };
  const options = renamed(payload.options, fields);
  return { ...message, payload: { ...payload, action: words[action].action, options } };
}

const asIs = (text) => text;
const quoted = (text) => text.replace(STRING_OR_BARE, (part) => (part[0] === '"' ? part : `"${part}"`));

/** The message that a script's text is; null for what is none. */
export function understood(text) {
  for (const mend of [asIs, quoted]) {
    try {
      return canonical(JSON.parse(mend(text)));
    } catch {
      // bare numbers, or no JSON at all
    }
  }
  return null;
}
