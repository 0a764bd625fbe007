/** A component that this page does not know: the protocol may grow. It keeps its place, and the components in it. */

import { h } from "../house/house.js";
import { BoardComponent } from "./component.js";

export class BoardUnknown extends BoardComponent {
  spawn() {
    this.append(h("p.what", {}, `This page cannot show a “${this.kind}”.`));
  }

  get holds() {
    return true;
  }

  update() {}
}

customElements.define("board-unknown", BoardUnknown);
