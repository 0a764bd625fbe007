/**
 * Translates the messages of a script that runs in this page into the board's dialect.
 *
 * The messages of other scripts are translated by the server (codec/sidekick/). A script in the page sends directly to
 * it. Released clients (0.0.7) use other names in a markdown and a textbox, and write NaN and Infinity as bare words,
 * which is not valid JSON.
 */

/** component -> action (none: a spawn) -> the canonical action, and the canonical names of its fields. */
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

/** The message in a script's text; null if the text is no message. */
export function understood(text) {
  for (const mend of [asIs, quoted]) {
    try {
      return canonical(JSON.parse(mend(text)));
    } catch {
      // it has bare numbers, or is no JSON at all
    }
  }
  return null;
}
