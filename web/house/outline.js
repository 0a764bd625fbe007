/**
 * An outline: the rows that a tree shows, in order, from a forest, what is folded and what is searched for. Pure.
 *
 * While something is searched for, a row is there because it matches or because something below it does; the way to a
 * match is open, whatever was folded before, and can be folded again until the search changes.
 */

export class Outline {
  #open = new Map();
  #foldedInSearch = new Set();
  terms = [];
  /** Whether only some rows are wanted. */
  searching = false;

  /** Looks for all the words of `text`; `narrowed` says that the page wants a choice of rows even without a word. */
  search(text, narrowed = false) {
    this.terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.searching = narrowed || this.terms.length > 0;
    this.#foldedInSearch.clear();
  }

  isOpen(key) {
    return this.searching ? !this.#foldedInSearch.has(key) : this.#open.get(key) ?? true;
  }

  set(key, open) {
    if (!this.searching) this.#open.set(key, open);
    else if (open) this.#foldedInSearch.delete(key);
    else this.#foldedInSearch.add(key);
  }

  /** Sets it only where the reader has not chosen yet. */
  suggest(key, open) {
    if (!this.#open.has(key)) this.#open.set(key, open);
  }

  /** Forgets the choices made for keys that no longer exist. */
  forget(exists) {
    for (const key of this.#open.keys()) if (!exists(key)) this.#open.delete(key);
  }

  /**
   * `children(key)` lists keys, from `children("")` down; `matches(key, terms)` says whether a row is wanted by a
   * search, `extra(key)` may give the text of one more row after a node's children. A row:
   * {key, level, open (null for a leaf), position, size, extra}.
   *
   * @param {{children: (key: string) => string[], matches: (key: string, terms: string[]) => boolean,
   *   extra?: (key: string) => string | null}} forest
   */
  rows({ children, matches, extra = () => null }) {
    const wanted = this.searching && this.#wanted(children, matches);
    const rows = [];
    const below = (key) => (wanted ? children(key).filter((child) => wanted.has(child)) : children(key));
    const walk = (parent, level) => {
      const keys = below(parent);
      const last = extra(parent);
      const size = keys.length + (last ? 1 : 0);
      keys.forEach((key, index) => {
        const folder = below(key).length > 0 || Boolean(extra(key));
        const open = folder ? this.isOpen(key) : null;
        rows.push({ key, level, open, position: index + 1, size, extra: null });
        if (open) walk(key, level + 1);
      });
      if (last) rows.push({ key: `${parent}//more`, level, open: null, position: size, size, extra: last });
    };
    walk("", 1);
    return rows;
  }

  #wanted(children, matches) {
    const wanted = new Set();
    const visit = (key) => {
      let want = key !== "" && matches(key, this.terms);
      for (const child of children(key)) want = visit(child) || want;
      if (want) wanted.add(key);
      return want;
    };
    visit("");
    return wanted;
  }
}
