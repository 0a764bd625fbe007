/** Row and column: components that hold others. The board itself is a column. CSS lays them out. */

import { BoardComponent } from "./component.js";

class Box extends BoardComponent {
  get holds() {
    return true;
  }
}

export class BoardRow extends Box {}
export class BoardColumn extends Box {}
export class BoardRoot extends Box {}

customElements.define("board-row", BoardRow);
customElements.define("board-column", BoardColumn);
customElements.define("board-root", BoardRoot);
