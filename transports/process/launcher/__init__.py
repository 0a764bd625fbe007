"""The launcher: a small program of its own, which runs other programs for the server.

    server ──┬── launcher (warden)          forks keepers, and ends what a killed keeper leaves behind
             │     ├─ keeper ── a run       one run at a time, and nothing else; then the next
             │     └─ keeper ── a run
             └── a socket to each keeper

Why not from the server itself: a child's peak memory begins with that of the process that started it, so from a large
server every run seems large; what is orphaned goes past it, unless it is a subreaper for all that it ever starts; and
a server that is killed can clean up nothing. The launcher is small (some 10 MB), has one thread, and lives for this.

Why a keeper for each run, and not one process for all: a keeper is a subreaper (Linux), so whatever a run starts, in
whichever session, with whatever environment, however often orphaned, is below its keeper and below no other. To whom
a process belongs is known to the kernel, not guessed, and that nothing is left is ECHILD. Keepers are used again, so
that a run costs nothing but its own start.

Who ends whom, if something is killed with SIGKILL, be it by what is run, where the kernel lets it (`system.py`):

    killed                 who sees it                      what becomes of the runs
    the server             each keeper, by EOF              the keeper ends its run and itself
    the launcher           the server, by EOF; it closes    the keepers end their runs and themselves
                           the keepers' sockets
    a keeper               the launcher, by SIGCHLD         its run falls to the launcher, which ends it
    launcher and keepers   the server, by EOF               it kills the groups of the runs, and on Linux whatever falls
    together                                                to it (`process/leftovers.py`)

Rules
  - The order of death: the group is killed while its leader is not yet reaped, so its number is nobody else's. Then
    whatever is still below the keeper is killed, group by group, until the keeper has no child left.
  - A keeper that could not end a run within some seconds (a process that hangs in the kernel) says so and ends: what
    is left falls to the launcher.
  - Nothing but the standard library, and of that little: what is imported here is carried into every fork.
  - It ends by EOF only. A Ctrl-C in the terminal, a TERM to all of the server's processes, are the server's affair.

Without /proc and subreapers (macOS) a run is its process group: the group is killed, what has left it is not found,
and CPU time and memory are known only at the end, so that of the limits only the server's (time, output) hold. It
needs `os.waitid`, which Python has on macOS from 3.13 on.
"""
