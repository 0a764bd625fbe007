/** The policy of the workspace, and what is remembered: what <agent-rules> shows and changes is asked of the server. */

import { notify } from "../house/house.js";
import { Refused, ask } from "./api.js";
import { page, parts } from "./page.js";
import { tried } from "./places.js";

const { rules } = parts;
const placeOf = { workspace: (id) => `workspaces/${encodeURIComponent(id)}`, session: (id) => `sessions/${encodeURIComponent(id)}` };

const idOf = { workspace: () => page.workspace, session: () => page.session?.id ?? null };

export async function showRules() {
  if (!page.workspace) return;
  rules.open();
  try {
    rules.show(await ask("GET", `${placeOf.workspace(page.workspace)}/policy`));
    await showRemembered();
  } catch (error) {
    rules.refused(error.message);
  }
}

async function showRemembered() {
  const lists = await Promise.all(["session", "workspace"].map(async (scope) => {
    const id = idOf[scope]();
    if (id === null) return [];
    const { approvals } = await ask("GET", `${placeOf[scope](id)}/approvals`);
    return approvals.map((each) => ({ ...each, scope }));
  }));
  rules.showRemembered(lists.flat());
}

rules.addEventListener("save", async ({ detail: { change } }) => {
  try {
    if (Object.keys(change).length) {
      rules.show(await ask("PUT", `${placeOf.workspace(page.workspace)}/policy`, change));
      notify("The policy is changed. It holds from the next thing that the agent does.");
    }
    rules.close();
  } catch (error) {
    rules.refused(error.message);
  }
});

rules.addEventListener("forget", ({ detail: { id, scope } }) => tried(async () => {
  const place = idOf[scope]();
  if (place === null) return;
  try {
    await ask("DELETE", `${placeOf[scope](place)}/approvals/${encodeURIComponent(id)}`);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error; // somebody else has revoked it
  }
  await showRemembered();
}));
