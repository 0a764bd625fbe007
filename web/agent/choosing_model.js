/** Which model answers: what <agent-models> asks is asked of the server, and its choice is kept there. */

import { notify } from "../house/house.js";
import { ask } from "./api.js";
import { page, parts } from "./page.js";
import { refresh } from "./places.js";

const { models } = parts;

export async function chooseModel() {
  models.open(Boolean(page.session));
  try {
    const [listed, current, fact] = await Promise.all([ask("GET", "models"), ask("GET", "models/current"), ownFact()]);
    page.usual = current;
    models.show(listed, current, fact?.model_provider ? { ...fact, provider: fact.model_provider, url: fact.model_url } : null);
  } catch (error) {
    models.refused(error.message);
  }
}

async function ownFact() {
  return page.session ? ask("GET", `sessions/${encodeURIComponent(page.session.id)}`) : null;
}

models.addEventListener("model", ({ detail: { model, here } }) => modelled(async () => {
  const name = model.display_name || model.id;
  const chosen = { model_name: model.id, context_window: model.context_window ?? undefined };
  if (here && page.session) {
    await changeOwn({ ...chosen, context_window: model.context_window ?? null, model_provider: model.provider, model_url: model.url });
    return `From the next message on, this session asks ${name}.`;
  }
  const own = (await ownFact())?.model_provider;
  page.usual = await ask("PUT", "models/current", { ...chosen, provider: model.provider, url: model.url });
  return `From the next message on: ${name}.${own ? " This session keeps its own model." : ""}`;
}));
models.addEventListener("usual", () => modelled(async () => {
  await changeOwn({ model_provider: null, model_name: null, model_url: null, context_window: null });
  return `This session asks the usual model again${page.usual ? `: ${page.usual.model_name}` : ""}.`;
}));

async function changeOwn(change) {
  if (page.session) await ask("PATCH", `sessions/${encodeURIComponent(page.session.id)}`, change);
}

async function modelled(work) {
  try {
    const sentence = await work();
    models.close();
    notify(sentence);
    await refresh();
  } catch (error) {
    models.refused(error.message);
  }
}
