"""The launcher: a small separate program that runs other programs for the server.

    server ──┬── launcher (warden)          forks keepers, and ends what a killed keeper leaves behind
             │     ├─ keeper ── a run       one run at a time, and nothing else; then the next
             │     └─ keeper ── a run
             └── a socket to each keeper

Why does the server not start programs itself? A child's peak memory begins with that of the process that started it, so
every run of a large server would seem large. Orphaned processes would escape, unless the server were a subreaper for
everything it ever starts. And a server that is killed cannot clean up. The launcher is small (some 10 MB), has one
thread, and does nothing else.

Why does each run have a keeper of its own? A keeper is a subreaper (Linux). So every process of a run, in whatever
session or environment and however often orphaned, is below its keeper and below no other. The kernel knows to which run
a process belongs, and ECHILD proves that nothing is left. Keepers are reused, so a run costs only its own start; and
not even that, if the keeper has an interpreter that waits for it (`standby.py`). Then that is its only child between
runs.

If one of these is killed with SIGKILL (a run may do that where the kernel permits it, see `system.py`):

    killed                 noticed by                       the end of the runs
    the server             each keeper, by EOF              the keeper ends its run and itself
    the launcher           the server, by EOF; it closes    the keepers end their runs and themselves
                           the keepers' sockets
    a keeper               the launcher, by SIGCHLD         its run falls to the launcher, which ends it
    launcher and keepers   the server, by EOF               it kills the groups of the runs, and on Linux whatever falls
    together                                                to it (`process/leftovers.py`)
    all of these           the next launcher, in the        it kills what is left in them; without cgroups, nobody
    together               cgroups (`group.py`)             does

Rules
  - A run is killed in this order: first its group, while the leader is not yet reaped, so that no other group can have
    its number. Then everything that is still below the keeper, group by group, until the keeper has no child left.
  - If a keeper cannot end a run within some seconds (a process hangs in the kernel), it reports this and ends. The rest
    of the run falls to the launcher.
  - Only the standard library is imported, and little of it, because every fork inherits the imports.
  - It ends by EOF only. Signals for all processes of the server (Ctrl-C in the terminal, TERM) are left to the server.

Without /proc and subreapers (macOS) a run is its process group. The group is killed, but processes that have left it
are not found. CPU time and memory are known only at the end, so only the server's limits (wall time, output) hold. On
macOS Python has the required `os.waitid` only from 3.13 on.
"""
