"""Programs that attack their launcher. None signals anything except the launcher that runs it, processes below that,
and itself. One whose launcher was just killed by another does nothing: if it ended, its keeper might still tell how,
and an end of its own is nothing to be blamed for."""

BEGIN = """
import os, signal, time

def stat(pid):
    return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()

def children(pid):
    return list(map(int, open(f"/proc/{pid}/task/{pid}/children").read().split()))

try:
    keeper = os.getppid()
    launcher = int(stat(keeper)[1])
    there = all(b"launcher" in open(f"/proc/{pid}/cmdline", "rb").read() for pid in (keeper, launcher))
except OSError:
    there = False
while not there:
    time.sleep(1000)  # another was faster: this one is interrupted with all that run there, and comes again

def send(number, *pids):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError as error:
            print(error, flush=True)

STOP, KILL = signal.SIGSTOP, signal.SIGKILL
"""

END = "\ntime.sleep(1000)"

HOSTILE = {
    "kills its keeper": "send(KILL, keeper)",
    "kills the launcher": "send(KILL, launcher)",
    "kills both": "send(KILL, launcher, keeper)",
    "kills all keepers and the launcher": "send(KILL, *(set(children(launcher)) - {keeper}), launcher, keeper)",
    "halts its keeper": "send(STOP, keeper)",
    "halts the launcher and kills its keeper": "send(STOP, launcher); send(KILL, keeper)",
    "halts all and kills them": "pids = launcher, *children(launcher); send(STOP, *pids); send(KILL, *pids)",
    "kills in a process that has left": "if not os.fork(): os.setsid(); time.sleep(0.02); send(KILL, launcher, keeper)",
}


def program(name: str) -> str:
    return BEGIN + HOSTILE[name] + END
