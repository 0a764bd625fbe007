/**
 * A canvas to draw on, with buffers out of sight.
 *
 * Rules
 *   - It is drawn at the screen's density, in the script's own coordinates. What is drawn stays drawn: nothing of it is
 *     kept but the pixels, which stay with the element wherever it moves.
 *   - It is white paper in both themes: scripts draw with black unless they say otherwise.
 *   - A stroke is drawn unless its width is 0; a fill only where a colour is given.
 *   - Buffers are as large as the canvas. Making one that is there makes it anew, empty.
 *   - What cannot be done is told to the script, in the words of the original page.
 */

import { h } from "../house/house.js";
import { BoardComponent } from "./component.js";

const SEEN = 0;
const LONGEST_SIDE = 16_384; // browsers draw nothing on a canvas beyond this
const MOST_PIXELS = 64e6;

const closed = (context, points) => {
  trace(context, points);
  context.closePath();
};

function trace(context, points) {
  context.beginPath();
  for (const { x, y } of points) context.lineTo(x, y);
}

/** action -> path; `fill` says whether it has an inside. */
const SHAPES = {
  drawLine: { path: (context, { x1, y1, x2, y2 }) => trace(context, [{ x: x1, y: y1 }, { x: x2, y: y2 }]) },
  drawPolyline: { path: (context, { points }) => trace(context, points), name: "Polyline", least: 2 },
  drawPolygon: { path: (context, { points }) => closed(context, points), name: "Polygon", least: 3, fill: true },
  drawRect: {
    path(context, { x, y, width, height }) {
      context.beginPath();
      context.rect(x, y, width, height);
    },
    fill: true,
  },
  drawCircle: {
    path(context, { cx, cy, radius }) {
      context.beginPath();
      context.arc(cx, cy, radius, 0, Math.PI * 2);
    },
    fill: true,
  },
  drawEllipse: {
    path(context, { cx, cy, radiusX, radiusY }) {
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
  #buffers = new Map(); // id -> context

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
    this.#buffers.set(SEEN, this.#prepare(this.#canvas));
    this.append(this.#canvas);
  }

  /** Sized, with the script's coordinates. */
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
    const from = source === SEEN ? null : this.#buffers.get(source);
    const to = this.#buffers.get(target);
    if (!from) throw new Error(`Source buffer ${source} not found for drawBuffer.`);
    if (!to) throw new Error(`Target context for buffer ${target} not found for drawBuffer.`);
    to.drawImage(from.canvas, 0, 0, this.#width, this.#height);
  }

  /** Where it was clicked, in the script's coordinates, also when a narrow page shows it smaller. */
  #click({ clientX, clientY }) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    const x = Math.round(((clientX - left) * this.#width) / width);
    const y = Math.round(((clientY - top) * this.#height) / height);
    this.event({ event: "click", x, y });
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
