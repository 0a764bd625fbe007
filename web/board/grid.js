/**
 * A grid of cells, each with a colour and a text, drawn on one canvas.
 *
 * Rules
 *   - Only the cells in sight are drawn. The canvas is as large as the visible part of the grid, and does not move
 * while
 *     the grid scrolls. So a grid may have any size, and the window bounds the cost of a frame.
 *   - A frame draws the cells that have changed, or all cells if that is less work.
 *   - A cell is a square of 10 to 100 pixels. It is as wide as there is room, but not so high that the grid exceeds the
 *     window, as long as the cells stay readable.
 *   - For the keyboard, one cell exists as an element (the ARIA grid pattern). It lies over its drawing, and the arrows
 *     move it.
 *   - The script's colours are the same in both themes. A cell without a colour has the page's.
 */

import { h, mark, put } from "../house/house.js";
import { BoardComponent } from "./component.js";
import { colour } from "./colour.js";

/** @import { Board } from "../messages" */

const SMALLEST = 10;
const LARGEST = 100;
const READABLE = 28;
const OF_WINDOW = 0.8; // how much of the window's height a grid may take
const FRAME = 3; // pixels of lines beside the cells
const SCROLLBAR = 16;
const DENSEST = 3; // device pixels for one CSS pixel; nobody can see more
let lastId = 0;

const within = (value, least, most) => Math.min(most, Math.max(least, value));

export class BoardGrid extends BoardComponent {
  #columns = 1;
  #rows = 1;
  #cells = new Map(); // y * columns + x -> {color, text}; a cell with neither has no entry
  #changed = new Set();
  #all = true;
  #size = SMALLEST;
  #active = 0;

  #canvas = h("canvas", { ariaHidden: "true" });
  #words = h("span.unseen");
  #cell = h("div.cell", { role: "gridcell", id: `grid-cell-${(lastId += 1)}` }, this.#words);
  #row = h("div", { role: "row" }, this.#cell);
  #hover = h("div.hover", { hidden: true });
  #sheet = h("div.sheet", { role: "presentation" }, this.#canvas, this.#hover, this.#row);
  #frame = h("div.frame", { role: "grid", tabIndex: 0, ariaLabel: "Grid" }, this.#sheet);
  #context = this.#canvas.getContext("2d");
  #resize = new ResizeObserver(() => this.#redraw());
  #theme = new MutationObserver(() => this.#redraw());

  actions = {
    setColor: (/** @type {Board.CellColor} */ { x, y, color }) => this.#set(x, y, { color: color || null }),
    setText: (/** @type {Board.CellText} */ { x, y, text }) => this.#set(x, y, { text: text || null }),
    clearCell: (/** @type {Board.Cell} */ { x, y }) => this.#set(x, y, { color: null, text: null }),
    clear: () => {
      this.#cells.clear();
      this.#redraw();
    },
  };

  /** @param {Board.GridSpawn} payload */
  spawn({ numColumns, numRows }) {
    this.#columns = Math.max(1, Math.floor(numColumns));
    this.#rows = Math.max(1, Math.floor(numRows));
    mark(this.#frame, "aria-colcount", this.#columns);
    mark(this.#frame, "aria-rowcount", this.#rows);
    mark(this.#frame, "aria-activedescendant", this.#cell.id);
    this.#frame.onclick = (event) => this.#press(this.#cellAt(event));
    this.#frame.onkeydown = (event) => this.#key(event);
    this.#frame.onscroll = () => this.#redraw();
    this.#frame.onpointermove = (event) => this.#point(event.pointerType === "touch" ? null : this.#cellAt(event));
    this.#frame.onpointerleave = () => this.#point(null);
    this.append(this.#frame);
    this.soil();
  }

  connected() {
    this.#resize.observe(this);
    for (const place of [document.documentElement, document.body]) {
      this.#theme.observe(place, { attributeFilter: ["data-theme", "class", "style"] });
    }
    this.listen(matchMedia("(prefers-color-scheme: dark)"), "change", () => this.#redraw());
    this.listen(window, "resize", () => this.#redraw());
  }

  disconnected() {
    this.#resize.disconnect();
    this.#theme.disconnect();
  }

  #set(x, y, change) {
    if (!(x >= 0 && x < this.#columns && y >= 0 && y < this.#rows)) return;
    const index = y * this.#columns + x;
    const cell = { color: null, text: null, ...this.#cells.get(index), ...change };
    if (cell.color === null && cell.text === null) this.#cells.delete(index);
    else this.#cells.set(index, cell);
    this.#changed.add(index);
    this.soil();
  }

  #redraw() {
    this.#all = true;
    this.soil();
  }

  // --- drawing

  paint() {
    if (!this.isConnected) return;
    if (this.#all) this.#fit();
    const sight = this.#sight();
    const draw = brush(this.#context, getComputedStyle(this.#sheet), this.#size);
    const crowd = this.#changed.size > ((sight.right - sight.left) * (sight.bottom - sight.top)) / 2;
    if (this.#all || crowd) this.#drawAll(this.#context, draw, sight);
    else for (const index of this.#changed) this.#drawOne(draw, sight, index % this.#columns, index);
    this.#all = false;
    this.#changed.clear();
    this.#name();
  }

  /** Computes the size of the cells, the sheet and the canvas anew. This empties the canvas. */
  #fit() {
    const high = within(Math.floor((innerHeight * OF_WINDOW) / this.#rows), READABLE, LARGEST);
    const bar = this.#rows * high > innerHeight * OF_WINDOW ? SCROLLBAR : 0;
    this.style.setProperty("--widest", `${this.#columns * high + FRAME + bar}px`); // a row has others beside it
    const room = this.clientWidth - FRAME;
    this.#size = within(Math.floor(room / this.#columns), SMALLEST, high);
    const [width, height] = [this.#columns * this.#size + 1, this.#rows * this.#size + 1];
    this.#sheet.style.width = `${width}px`;
    this.#sheet.style.height = `${height}px`;
    this.style.setProperty("--cell", `${this.#size}px`);
    const density = Math.min(devicePixelRatio, DENSEST);
    const [wide, tall] = [Math.min(width, this.#frame.clientWidth), Math.min(height, this.#frame.clientHeight)];
    for (const [side, length] of Object.entries({ width: wide, height: tall })) {
      const pixels = Math.max(1, Math.round(length * density));
      if (this.#canvas[side] !== pixels) this.#canvas[side] = pixels;
      this.#canvas.style[side] = `${length}px`;
    }
  }

  /** Which cells are in sight, and how far the sheet is scrolled. */
  #sight() {
    const { scrollLeft, scrollTop } = this.#frame;
    const { clientWidth, clientHeight } = this.#canvas;
    const last = (start, length, most) => Math.min(most, Math.ceil((start + length) / this.#size));
    return {
      x: scrollLeft,
      y: scrollTop,
      left: Math.floor(scrollLeft / this.#size),
      top: Math.floor(scrollTop / this.#size),
      right: last(scrollLeft, clientWidth, this.#columns),
      bottom: last(scrollTop, clientHeight, this.#rows),
    };
  }

  #drawAll(context, draw, sight) {
    const density = Math.min(devicePixelRatio, DENSEST);
    context.setTransform(density, 0, 0, density, -Math.round(sight.x * density), -Math.round(sight.y * density));
    draw.ground(sight);
    for (let y = sight.top; y < sight.bottom; y += 1) {
      for (let x = sight.left; x < sight.right; x += 1) draw.cell(x, y, this.#cells.get(y * this.#columns + x));
    }
  }

  #drawOne(draw, sight, x, index) {
    const y = (index - x) / this.#columns;
    if (x < sight.left || x >= sight.right || y < sight.top || y >= sight.bottom) return;
    draw.cell(x, y, this.#cells.get(index));
  }

  // --- the reader

  #cellAt({ clientX, clientY }) {
    const { left, top } = this.#sheet.getBoundingClientRect();
    const x = Math.floor((clientX - left) / this.#size);
    const y = Math.floor((clientY - top) / this.#size);
    return x >= 0 && x < this.#columns && y >= 0 && y < this.#rows ? y * this.#columns + x : null;
  }

  #press(index) {
    if (index === null) return;
    this.#activate(index);
    this.event({ event: "click", x: index % this.#columns, y: Math.floor(index / this.#columns) });
  }

  #point(index) {
    this.#hover.hidden = index === null;
    if (index === null) return;
    this.#lay(this.#hover, index);
    mark(this.#hover, "title", this.#cells.get(index)?.text ?? null);
  }

  #lay(element, index) {
    const x = index % this.#columns;
    const y = (index - x) / this.#columns;
    element.style.translate = `${x * this.#size}px ${y * this.#size}px`;
  }

  #activate(index) {
    this.#active = index;
    this.#name();
    this.#cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Puts the keyboard's cell over its drawing, and describes the cell in words. */
  #name() {
    const x = this.#active % this.#columns;
    const y = (this.#active - x) / this.#columns;
    const { text = null, color = null } = this.#cells.get(this.#active) ?? {};
    this.#lay(this.#cell, this.#active);
    mark(this.#row, "aria-rowindex", y + 1);
    mark(this.#cell, "aria-colindex", x + 1);
    put(this.#words, [`column ${x}, row ${y}`, text, color].filter((word) => word !== null).join(", "));
  }

  #key(event) {
    if (event.altKey || event.metaKey) return;
    const [x, y] = [this.#active % this.#columns, Math.floor(this.#active / this.#columns)];
    const to = {
      ArrowLeft: [x - 1, y],
      ArrowRight: [x + 1, y],
      ArrowUp: [x, y - 1],
      ArrowDown: [x, y + 1],
      Home: [0, event.ctrlKey ? 0 : y],
      End: [this.#columns - 1, event.ctrlKey ? this.#rows - 1 : y],
    }[event.key];
    if (to) this.#activate(within(to[1], 0, this.#rows - 1) * this.#columns + within(to[0], 0, this.#columns - 1));
    else if (event.key === "Enter" || event.key === " ") this.#press(this.#active);
    else return;
    event.preventDefault();
  }

  // --- keep and resume

  state() {
    const cells = [...this.#cells].sort(([one], [other]) => one - other).map(([index, { color, text }]) => ({
      x: index % this.#columns,
      y: Math.floor(index / this.#columns),
      ...(color === null ? {} : { color }),
      ...(text === null ? {} : { text }),
    }));
    return { numColumns: this.#columns, numRows: this.#rows, cells };
  }

  keep() {
    const { scrollLeft, scrollTop } = this.#frame;
    const focused = document.activeElement === this.#frame;
    return { columns: this.#columns, active: this.#active, scrollLeft, scrollTop, focused };
  }

  resume({ columns, active, scrollLeft, scrollTop, focused }) {
    if (columns === this.#columns && active < this.#columns * this.#rows) this.#active = active;
    this.#frame.scrollLeft = scrollLeft;
    this.#frame.scrollTop = scrollTop;
    if (focused) this.#frame.focus({ preventScroll: true });
    this.#name();
  }
}

/** Returns a function that draws cells of one size in the page's current colours. */
function brush(context, style, size) {
  const { backgroundColor: ground, outlineColor: line, color: ink, fontFamily: family } = style;
  const inner = size - 1;
  const letters = Math.min(40, size * 0.5);
  let font = "";

  function write(text, x, y, color) {
    const short = text.length > 200 ? text.slice(0, 200) : text;
    set(letters);
    const wide = context.measureText(short).width;
    const room = inner - 4;
    if (wide > room) set(Math.max(7, (letters * room) / wide));
    context.fillStyle = color;
    context.fillText(short, x + size / 2 + 0.5, y + size / 2 + 1, room);
  }

  function set(points) {
    const wanted = `${Math.round(points * 2) / 2}px ${family}`;
    if (font !== wanted) context.font = font = wanted;
  }

  context.textAlign = "center";
  context.textBaseline = "middle";
  return {
    ground({ left, top, right, bottom }) {
      context.fillStyle = line;
      context.fillRect(left * size, top * size, (right - left) * size + 1, (bottom - top) * size + 1);
    },
    cell(x, y, cell) {
      const paint = colour(cell?.color);
      context.fillStyle = ground;
      context.fillRect(x * size + 1, y * size + 1, inner, inner);
      if (paint) {
        context.fillStyle = paint.fill;
        context.fillRect(x * size + 1, y * size + 1, inner, inner);
      }
      if (cell?.text) write(String(cell.text), x * size, y * size, paint?.ink ?? ink);
    },
  };
}

customElements.define("board-grid", BoardGrid);
