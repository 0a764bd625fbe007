"""What the index needs from outside. transports/agent/index/ implements it, and so do the tests."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from codec.agent.index.asking import IndexFindings, IndexQuery
from codec.agent.index.telling import IndexFacts, IndexTrouble, IndexWish, WatchNews, WatchTrouble

__all__ = ["FolderWatches", "IndexTrouble", "Indexes", "WatchNews", "WatchTrouble", "WorkspaceIndex"]


class WorkspaceIndex(Protocol):
    """The index of one workspace: a file of SQLite, which processes fill. Not two updates at once; questions are
    answered at any time, also while an update runs, and see its last commit."""

    async def facts(self) -> IndexFacts:
        """What is kept. A file that is damaged, or of another version, is made anew, and `troubles` says so. Raises
        IndexTrouble."""

    async def update(self, wish: IndexWish, said: Callable[[IndexFacts], None]) -> IndexFacts:
        """Reads what has changed, in small commits, and forgets what is gone. It can be cancelled at any moment, or
        killed: the next update goes on from the last commit. `said` is called after each commit, not more often than
        every 50 ms. Raises IndexTrouble."""

    async def find(self, query: IndexQuery, readable: Callable[[str], bool]) -> IndexFindings:
        """`readable` says of a path whether the policy lets the agent read it: others are in no answer. Raises
        IndexTrouble."""

    async def embed(self, said: Callable[[IndexFacts], None]) -> IndexFacts | None:
        """Asks the embedding model for the vectors that are missing; None: there is no such model. Not two
        at once, but beside updates. It can be cancelled at any moment, and goes on from the last commit. Raises
        IndexTrouble."""


class Indexes(Protocol):
    def index(self, workspace_id: str, path: str) -> WorkspaceIndex: ...

    async def tidy(self) -> Sequence[str]:
        """Deletes the indexes that nobody has used for a long time, and returns the ids of their workspaces. Raises
        IndexTrouble."""


# -- watching


class FolderWatches(Protocol):
    async def watch(self, path: str, told: Callable[[WatchNews], None]) -> None:
        """Watches the folder with all below it until it is cancelled, less what git ignores and what is hidden. As soon
        as all of it is watched, the news is that anything may have changed. From then on what is saved is told at once,
        and what comes in a flood is gathered. Returns when the folder itself is gone. Raises WatchTrouble."""

    async def look(self, path: str, told: Callable[[WatchNews], None], warm: Callable[[], Collection[str]]) -> None:
        """The same where it cannot be watched: the folder is looked at every few seconds, a part at a time. The paths
        that are `warm` then are in each of the looks, so what changes there is told soon."""
