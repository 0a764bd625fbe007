"""What may have changed since the index was last compared with the disk, gathered: paths, up to a bound, and then all.

    told(path)    this file, or this folder with all below it
    told_all()    anything
    taken()       one update's worth; what is told from then on is for the next one

A rebuild forgets what was gathered, because it reads everything anyway.
"""

from collections.abc import Iterable

from codec.agent.index.telling import IndexWish

MOST_PATHS = 2_000
"""With more of them a whole scan is quicker than their list."""


class Changes:
    def __init__(self) -> None:
        self._paths: dict[str, None] = {}
        self._all = False
        self._anew = False
        self.quiet = True
        """Whether nobody has asked for it, so that nobody has to be told of it while it changes little."""

    def __bool__(self) -> bool:
        return self._all or bool(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    @property
    def whole(self) -> bool:
        return self._all

    def told(self, paths: Iterable[str]) -> None:
        if not self._all:
            self._paths.update(dict.fromkeys(paths))
            if "" in self._paths or len(self._paths) > MOST_PATHS:
                self.told_all()

    def told_all(self, *, anew: bool = False, quiet: bool = True) -> None:
        self._all = True
        self._anew = self._anew or anew
        self.quiet = self.quiet and quiet
        self._paths.clear()

    def taken(self) -> IndexWish:
        wish = IndexWish(paths=None if self._all else tuple(self._paths), anew=self._anew)
        self._paths, self._all, self._anew, self.quiet = {}, False, False, True
        return wish

    def back(self, wish: IndexWish, *, quiet: bool) -> None:
        """An update of this did not come to its end. What it was to read anew counts on: it has lost what it had."""
        if wish.paths is None:
            self.told_all(anew=wish.anew, quiet=quiet)
        else:
            self.told(wish.paths)
