/**
 * An outline: computes the rows that a tree shows, in order, from a forest, the folded nodes and the search. Pure.
 *
 * During a search, there is a row for each node that matches, or has a match below it. The nodes above a match are
 * open, even if they were folded before. They can be folded again, until the search changes.
 */

export class Outline {
  #open = new Map();
  #foldedInSearch = new Set();
  terms = [];
  /** Whether only some rows are shown. */
  searching = false;

  /** Searches for all words of `text`. `narrowed`: the page shows only some of the rows even without a word. */
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

  /** Opens or folds a node, unless the reader has already done so. */
  suggest(key, open) {
    if (!this.#open.has(key)) this.#open.set(key, open);
  }

  /** Forgets the choices made for keys that no longer exist. */
  forget(exists) {
    for (const key of this.#open.keys()) if (!exists(key)) this.#open.delete(key);
  }

  /**
   * `children(key)` lists the keys below a key, beginning with `children("")`. `matches(key, terms)` says whether a
   * node matches a search. `extra(key)` may return the text of one more row after a node's children. A row is
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
