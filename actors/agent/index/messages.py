"""The messages of a workspace's Indexer. There is one for each workspace that is in use: `indexer_of(registry, id)`.

indexer    IndexAsked, Find, Reindex, ChangesTold,
           WatchWorkspace, FollowIndex                     from the port, from turns and from sessions
indexers   WakeIndexer                                     from whoever wants an indexer
           IndexWished                                     from the workspaces
           IndexerBusy                                     from an indexer
"""

from msgspec import Struct

from actors.kernel import ActorRef, Children, Key, Reply
from codec.agent.client_messages import FileChange
from codec.agent.index.asking import IndexFindings, IndexQuery
from codec.agent.workspaces import IndexStatus, Policy, WorkspaceFact


class IndexAsked(Struct, frozen=True):
    """How far the index is, and what troubles it."""

    reply: Reply[IndexStatus]


class Find(Struct, frozen=True):
    """Answered beside the mailbox, from what is in the index now. It also begins the index, if there is none."""

    query: IndexQuery
    reply: Reply[IndexFindings]
    policy: Policy | None = None
    """Within which it is answered. None: the workspace's own, as it is now."""


class Reindex(Struct, frozen=True):
    """`anew`: rebuild, otherwise refresh. Answered as soon as it is taken up, with how far the index is."""

    anew: bool
    reply: Reply[IndexStatus]


class ChangesTold(Struct, frozen=True):
    """An editor's word. The disk decides what is so: nothing but the paths is taken from it."""

    changes: tuple[FileChange, ...]
    reply: Reply[IndexStatus] | None = None


class WatchWorkspace(Struct, frozen=True):
    """Watches the folder, or leaves it. `polling`: by looking, without inotify."""

    wanted: bool
    polling: bool
    reply: Reply[IndexStatus]


class FollowIndex(Struct, frozen=True):
    """Answered when the status is no longer this one, or after a while: for /index/stream and the page."""

    seen: IndexStatus | None
    reply: Reply[IndexStatus]


IndexerMessage = IndexAsked | Find | Reindex | ChangesTold | WatchWorkspace | FollowIndex
INDEXER_ACTORS = Key[Children[IndexerMessage]]("agent/indexers")


# -- to all indexers


class WakeIndexer(Struct, frozen=True):
    """None: there is no such workspace."""

    workspace_id: str
    reply: Reply[ActorRef[IndexerMessage] | None]


class IndexWished(Struct, frozen=True):
    """The workspace was registered by somebody who wants it indexed, or watched."""

    fact: WorkspaceFact


class IndexerBusy(Struct, frozen=True):
    """Whether an update runs: such a one is the last to be put to sleep."""

    workspace_id: str
    busy: bool


IndexersMessage = WakeIndexer | IndexWished | IndexerBusy
INDEXERS = Key[IndexersMessage]("agent/index")
