/** The public face of the design system: pages import this module. Importing it defines all elements. */

export { copy } from "./copying.js";
export { HouseElement, h, mark, must, put, putParts } from "./element.js";
export * as format from "./format.js";
export { icon, turn } from "./icons.js";
export { dropText, inComposition, isField } from "./keys.js";
export { listenToKeys } from "./shortcuts.js";
export { Outline } from "./outline.js";
export { Pulse } from "./pulse.js";
export { LiveSocket, beside } from "./socket.js";
export { notify } from "./notice.js";
export { safeLink } from "./bar.js";
import "./banner.js";
import "./clip.js";
import "./empty.js";
import "./held.js";
import "./pill.js";
import "./press.js";
import "./prose.js";
import "./search.js";
import "./spark.js";
import "./tree.js";
