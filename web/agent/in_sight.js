/**
 * Whether something can be seen where it scrolls. What a key is to approve must be: the focus may be in a card that somebody
 * has scrolled away from, or for which a low window has no room. Pure but for the layout that it reads.
 */

/** Pixels: a line of text. Less than that says nothing. */
const LINE = 20;

/**
 * @param {Element} part
 * @param {Element} room  what scrolls
 * @param {{whole: boolean}} how  `whole`: all of it, or, where there is not the room, what fills half of that; else a line
 */
export function isInSight(part, room, { whole }) {
  if (!part.checkVisibility()) return false;
  const [at, frame] = [part.getBoundingClientRect(), room.getBoundingClientRect()];
  const [top, bottom] = [Math.max(frame.top, 0), Math.min(frame.bottom, innerHeight)];
  const seen = Math.min(at.bottom, bottom) - Math.max(at.top, top);
  const enough = whole ? Math.max((bottom - top) / 2, LINE) : LINE;
  return seen > Math.min(at.height, enough) - 1; // layouts have fractions of pixels
}
