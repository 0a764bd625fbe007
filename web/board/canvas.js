/**
 * A canvas to draw on, with invisible buffers.
 *
 * Rules
 *   - It is drawn at the screen's density, in the script's own coordinates. Only the pixels of a drawing are kept. They
 *     stay with the element wherever it moves.
 *   - It is white in both themes, because scripts draw in black by default.
 *   - A stroke is drawn unless its width is 0; a fill is drawn only if a colour is given.
 *   - Buffers are as large as the canvas. A buffer that is created again becomes empty.
 *   - If something cannot be done, the script is told, in the words of the original page.
 *   - With the keyboard, a canvas is clicked by a cross: the arrows move it (with Shift by one pixel), Enter or Space
 *     clicks. The cross is visible while the canvas has the focus, and its position is read out.
 */

import { h, put } from "../house/house.js";
import { BoardComponent } from "./component.js";

/** @import { Board } from "../messages" */

const SEEN = 0;
const LONGEST_SIDE = 16_384; // browsers draw nothing on a canvas beyond this
const MOST_PIXELS = 64e6;
const STRIDE = 10; // pixels in the script's coordinates
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const closed = (context, points) => {
  trace(context, points);
  context.closePath();
};

function trace(context, points) {
  context.beginPath();
  for (const { x, y } of points) context.lineTo(x, y);
}

/** action -> path; `fill` says whether the shape has an inside. */
const SHAPES = {
  drawLine: { path: (context, /** @type {Board.Segment} */ { x1, y1, x2, y2 }) => trace(context, [{ x: x1, y: y1 }, { x: x2, y: y2 }]) },
  drawPolyline: { path: (context, /** @type {Board.Polyline} */ { points }) => trace(context, points), name: "Polyline", least: 2 },
  drawPolygon: { path: (context, /** @type {Board.Polygon} */ { points }) => closed(context, points), name: "Polygon", least: 3, fill: true },
  drawRect: {
    path(context, /** @type {Board.Rect} */ { x, y, width, height }) {
      context.beginPath();
      context.rect(x, y, width, height);
    },
    fill: true,
  },
  drawCircle: {
    path(context, /** @type {Board.Circle} */ { cx, cy, radius }) {
      context.beginPath();
      context.arc(cx, cy, radius, 0, Math.PI * 2);
    },
    fill: true,
  },
  drawEllipse: {
    path(context, /** @type {Board.Ellipse} */ { cx, cy, radiusX, radiusY }) {
      context.beginPath();
      context.ellipse(cx, cy, radiusX, radiusY, 0, 0, Math.PI * 2);
    },
    fill: true,
  },
};

export class BoardCanvas extends BoardComponent {
  #width = 1;
  #height = 1;
  #density = 1;
  #canvas = h("canvas");
  #cross = h("span.cross", { ariaHidden: "true" });
  #where = h("span.unseen", { ariaLive: "polite" });
  #frame = h("div.frame", { tabIndex: 0, role: "application" }, this.#canvas, this.#cross, this.#where);
  #at = { x: 0, y: 0 }; // where the cross is
  #buffers = new Map(); // id -> context

  /** @param {Board.CanvasSpawn} payload */
  spawn({ width, height }) {
    this.#width = width;
    this.#height = height;
    const most = Math.sqrt(MOST_PIXELS / (width * height));
    this.#density = Math.min(Math.max(1, devicePixelRatio), LONGEST_SIDE / width, LONGEST_SIDE / height, most);
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.aspectRatio = `${width} / ${height}`;
    this.#canvas.role = "img";
    this.#canvas.ariaLabel = `Canvas, ${width} by ${height}`;
    this.#canvas.onclick = (event) => this.#click(event);
    this.#frame.ariaLabel = `Canvas, ${width} by ${height}: arrows move a cross, Enter clicks`;
    this.#frame.onkeydown = (event) => this.#key(event);
    this.#at = { x: Math.round(width / 2), y: Math.round(height / 2) };
    this.#buffers.set(SEEN, this.#prepare(this.#canvas));
    this.append(this.#frame);
    this.#lay();
  }

  /** Gives a canvas its size and the script's coordinates. */
  #prepare(canvas) {
    canvas.width = Math.max(1, Math.round(this.#width * this.#density));
    canvas.height = Math.max(1, Math.round(this.#height * this.#density));
    const context = canvas.getContext("2d");
    context.scale(canvas.width / this.#width, canvas.height / this.#height);
    return context;
  }

  update({ action, options }) {
    try {
      this.#do(action, options ?? {});
    } catch (error) {
      const buffer = action === "drawBuffer" ? SEEN : options?.bufferId ?? SEEN;
      this.complain(`Error processing action "${action}" for buffer ${buffer}: ${error.message}`);
    }
  }

  #do(action, options) {
    switch (action) {
      case "createBuffer":
        this.#buffers.set(own(options.bufferId), this.#prepare(new OffscreenCanvas(1, 1)));
        break;
      case "destroyBuffer":
        this.#buffers.delete(own(options.bufferId));
        break;
      case "drawBuffer":
        this.#compose(options.sourceBufferId, options.targetBufferId);
        break;
      case "clear":
        this.#buffer(action, options).clearRect(0, 0, this.#width, this.#height);
        break;
      case "drawText":
        write(this.#buffer(action, options), options);
        break;
      default:
        if (!Object.hasOwn(SHAPES, action)) throw new Error(`Unknown action "${action}".`);
        draw(this.#buffer(action, options), SHAPES[action], options);
    }
  }

  #buffer(action, { bufferId }) {
    const context = this.#buffers.get(bufferId ?? SEEN);
    if (!context) throw new Error(`Target context for buffer ${bufferId} not found for action "${action}".`);
    return context;
  }

  #compose(source, target) {
    const from = this.#buffers.get(source);
    const to = this.#buffers.get(target);
    if (!from) throw new Error(`Source buffer ${source} not found for drawBuffer.`);
    if (!to) throw new Error(`Target context for buffer ${target} not found for drawBuffer.`);
    to.drawImage(from.canvas, 0, 0, this.#width, this.#height);
  }

  /** Sends a click with its position in the script's coordinates, also if a narrow page shows the canvas smaller. */
  #click({ clientX, clientY }) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const x = Math.round(((clientX - left) * this.#width) / width);
    const y = Math.round(((clientY - top) * this.#height) / height);
    this.#at = { x, y };
    this.#lay();
    this.event({ event: "click", x, y });
  }

  #key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in ARROWS) {
      const [right, down] = ARROWS[event.key].map((way) => way * (event.shiftKey ? 1 : STRIDE));
      const within = (value, most) => Math.max(0, Math.min(Math.ceil(most) - 1, value));
      this.#at = { x: within(this.#at.x + right, this.#width), y: within(this.#at.y + down, this.#height) };
      this.#lay();
      put(this.#where, `${this.#at.x}, ${this.#at.y}`);
    } else if (event.key === "Enter" || event.key === " ") this.event({ event: "click", ...this.#at });
    else return;
    event.preventDefault();
  }

  #lay() {
    this.#cross.style.left = `${(100 * this.#at.x) / this.#width}%`;
    this.#cross.style.top = `${(100 * this.#at.y) / this.#height}%`;
  }

  keep() {
    return { at: this.#at, focused: document.activeElement === this.#frame };
  }

  resume({ at, focused }) {
    if (at.x < this.#width && at.y < this.#height) this.#at = at;
    this.#lay();
    if (focused) this.#frame.focus({ preventScroll: true });
  }

  state() {
    return { width: this.#width, height: this.#height, image: this.#canvas.toDataURL() };
  }
}

function own(bufferId) {
  if (Number.isInteger(bufferId) && bufferId > SEEN) return bufferId;
  throw new Error("A buffer's id must be a whole number above 0.");
}

function draw(context, shape, options) {
  const { lineColor, lineWidth, fillColor } = options;
  if (shape.least && !(options.points?.length >= shape.least)) {
    throw new Error(`${shape.name} requires at least ${shape.least} points`);
  }
  context.save();
  if (lineColor) context.strokeStyle = lineColor;
  if (lineWidth) context.lineWidth = lineWidth;
  shape.path(context, options);
  if (shape.fill && fillColor) {
    context.fillStyle = fillColor;
    context.fill();
  }
  if (lineWidth !== 0) context.stroke();
  context.restore();
}

function write(context, { x, y, text, textColor, textSize }) {
  context.save();
  if (textColor) context.fillStyle = textColor;
  if (textSize) context.font = `${textSize}px sans-serif`;
  context.fillText(text, x, y);
  context.restore();
}

customElements.define("board-canvas", BoardCanvas);
