/**
 * The board as a PNG: the content of the page is painted again on a canvas.
 *
 * A page cannot take a picture of itself, and our content policy forbids an SVG with the page inside. So this code
 * walks through the document and paints backgrounds, borders, canvases and lines of text, each where the browser has
 * put it. Content that is scrolled out of its frame is left out, as on the page. Pictures from other sites are left
 * out, too: a canvas with such a picture cannot be read.
 */

import { must } from "../house/house.js";

const MOST_PIXELS = 100e6;

/** A canvas with everything that `root` shows. */
export function picture(root, margin = 16) {
  const box = root.getBoundingClientRect();
  const [width, height] = [box.width + 2 * margin, box.height + 2 * margin];
  const density = Math.min(Math.max(1, devicePixelRatio), Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const context = must(canvas.getContext("2d"), "canvas");
  context.scale(density, density);
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, width, height);
  context.translate(margin - box.left, margin - box.top);
  paint(context, root);
  return canvas;
}

function paint(context, element) {
  if (!element.checkVisibility({ visibilityProperty: true })) return;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  context.save();
  context.globalAlpha *= Number(style.opacity);
  ground(context, style, box);
  if (style.overflowX !== "visible" || style.overflowY !== "visible") {
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
  }
  if (element instanceof HTMLImageElement && new URL(element.src).origin !== location.origin) {
    context.strokeStyle = style.color;
    context.strokeRect(box.left, box.top, box.width, box.height);
  } else if (element instanceof HTMLCanvasElement || element instanceof HTMLImageElement) {
    context.drawImage(element, box.left, box.top, box.width, box.height);
  } else if (element instanceof HTMLInputElement) {
    field(context, element, style, box);
  } else if (element instanceof SVGElement) {
    drawing(context, element, style, box);
  } else {
    if (style.display === "list-item") bullet(context, element, style, box);
    for (const node of element.childNodes) {
      if (node.nodeType === Node.ELEMENT_NODE) paint(context, node);
      else if (node.nodeType === Node.TEXT_NODE) lines(context, node, style, frameOf(element, box));
    }
  }
  context.restore();
}

function ground(context, style, { left, top, width, height }) {
  context.beginPath();
  context.roundRect(left, top, width, height, parseFloat(style.borderTopLeftRadius) || 0);
  context.fillStyle = style.backgroundColor;
  context.fill();
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => parseFloat(style[`border${side}Width`]));
  context.strokeStyle = style.borderBottomColor;
  context.lineWidth = sides[2];
  if (sides.every((side) => side > 0)) context.stroke();
  else if (sides[2] > 0) {
    context.beginPath();
    context.moveTo(left, top + height - sides[2] / 2);
    context.lineTo(left + width, top + height - sides[2] / 2);
    context.stroke();
  }
}

/** The nearest ancestor that cuts off its content. */
function frameOf(element, own) {
  const frame = element.closest(".log, .frame, .table, pre");
  return frame ? frame.getBoundingClientRect() : own;
}

/** Paints a text node, line by line. Only the positions of its characters tell where its lines break. */
function lines(context, node, style, frame) {
  if (!node.data.trim()) return;
  const range = document.createRange();
  range.selectNodeContents(node);
  const whole = range.getBoundingClientRect();
  if (whole.bottom < frame.top || whole.top > frame.bottom) return;
  set(context, style);
  let begun = null; // {text, left, top, bottom}
  const end = () => begun && context.fillText(begun.text.trimEnd(), begun.left, (begun.top + begun.bottom) / 2);
  for (let at = 0; at < node.length; ) {
    const letter = String.fromCodePoint(node.data.codePointAt(at));
    range.setStart(node, at);
    range.setEnd(node, (at += letter.length));
    const place = range.getClientRects()[0];
    if (!place || letter === "\n") continue;
    if (begun && Math.abs(place.top - begun.top) < 2) begun.text += letter;
    else {
      end();
      begun = { text: letter, left: place.left, top: place.top, bottom: place.bottom };
    }
  }
  end();
}

function field(context, input, style, { left, top, height }) {
  set(context, style);
  const text = input.value || input.placeholder;
  if (!input.value) context.globalAlpha *= 0.6;
  context.fillText(text, left + parseFloat(style.paddingLeft) + 1, top + height / 2);
}

function bullet(context, item, style, { left, top }) {
  const place = [...item.parentElement.children].indexOf(item) + (item.parentElement.start || 1);
  const sign = { disc: "•", decimal: `${place}.` }[style.listStyleType];
  if (!sign) return;
  set(context, style);
  context.textAlign = "end";
  context.fillText(sign, left - 6, top + parseFloat(style.lineHeight) / 2);
  context.textAlign = "start";
}

function set(context, style) {
  context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textBaseline = "middle";
}

/** Paints one of our icons: paths in a square of 16 by 16. */
function drawing(context, element, style, { left, top, width }) {
  context.translate(left + width / 2, top + width / 2);
  if (style.transform !== "none") {
    const { a, b, c, d } = new DOMMatrix(style.transform);
    context.transform(a, b, c, d, 0, 0);
  }
  const size = parseFloat(style.width) / 16;
  context.scale(size, size);
  context.translate(-8, -8);
  context.lineWidth = 1.5;
  context.strokeStyle = context.fillStyle = style.color;
  for (const path of element.querySelectorAll("path")) {
    const shape = new Path2D(path.getAttribute("d"));
    if (path.classList.contains("solid")) context.fill(shape);
    else context.stroke(shape);
  }
}
