"""The kernel: how actors live. This is its public face. Everything else is private to this folder and to its tests."""

from actors.kernel.actor import Actor, actor_from
from actors.kernel.agenda import Agenda
from actors.kernel.errors import (
    ActorDown,
    AlreadyAnswered,
    IllegalMove,
    KernelError,
    MailboxFull,
    NameTaken,
    NobodyThere,
    NotTaken,
    PeerGone,
    StartFailed,
    TooManyChildren,
    TooManyRestarts,
    TooSlow,
    in_words,
)
from actors.kernel.lease import Lease
from actors.kernel.mailbox import Mailbox, MailboxStatistics, Overflow
from actors.kernel.place import Place
from actors.kernel.ref import ActorRef, AnyRef, Children
from actors.kernel.registry import Key, Registry
from actors.kernel.reply import PostedQuestion, Reply
from actors.kernel.slot import Slot
from actors.kernel.spec import AnySpec, ChildSpec, Restart
from actors.kernel.stage import Crash, DeadLetter, Stage, StageStatistics, Tracer, run
from actors.kernel.standing import SlotState, SlotStatistics
from actors.kernel.stop import Down, Ended, Stop, Why, describe
from actors.kernel.supervisor import (
    Crowd,
    Decay,
    Intensity,
    Meter,
    Strategy,
    Supervisor,
    Top,
    crowd_spec,
    supervisor_spec,
)
from actors.kernel.table import Table
from actors.kernel.timers import Timer, Timers, growing_wait

__all__ = [
    "Actor",
    "ActorDown",
    "ActorRef",
    "Agenda",
    "AlreadyAnswered",
    "AnyRef",
    "AnySpec",
    "ChildSpec",
    "Children",
    "Crash",
    "Crowd",
    "DeadLetter",
    "Decay",
    "Down",
    "Ended",
    "IllegalMove",
    "Intensity",
    "KernelError",
    "Key",
    "Lease",
    "Mailbox",
    "MailboxFull",
    "MailboxStatistics",
    "Meter",
    "NameTaken",
    "NobodyThere",
    "NotTaken",
    "Overflow",
    "PeerGone",
    "Place",
    "PostedQuestion",
    "Registry",
    "Reply",
    "Restart",
    "Slot",
    "SlotState",
    "SlotStatistics",
    "Stage",
    "StageStatistics",
    "StartFailed",
    "Stop",
    "Strategy",
    "Supervisor",
    "Table",
    "Timer",
    "Timers",
    "TooManyChildren",
    "TooManyRestarts",
    "TooSlow",
    "Top",
    "Tracer",
    "Why",
    "actor_from",
    "crowd_spec",
    "describe",
    "growing_wait",
    "in_words",
    "run",
    "supervisor_spec",
]
