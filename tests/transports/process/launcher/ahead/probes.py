"""Programs that print what they can find out of themselves, or end in some way."""

PROBES = {
    "its state": """
import gc, locale, os, posix, resource, signal, sys, time
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.warnoptions, sys._xoptions)
print(sorted(sys.path_importer_cache), [type(each) for each in sys.meta_path])
print(__file__, __name__, __spec__, __package__, __doc__, __builtins__, type(__loader__), sorted(globals()))
print(sys.modules["__main__"].__dict__ is globals(), sys._getframe().f_back, sys.getrecursionlimit())
print(sorted(os.environ.items()), sorted(posix.environ.items()), os.getcwd(), os.getsid(0) == os.getpid())
print(os.getpgrp() == os.getpid(), os.umask(0o22), os.getpriority(0, 0), os.sched_getaffinity(0), os.getuid())
print([(each, signal.getsignal(each)) for each in signal.valid_signals() if each != signal.SIGCHLD])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), signal.getitimer(signal.ITIMER_REAL))
print([(each, resource.getrlimit(getattr(resource, each))) for each in dir(resource) if each.startswith("RLIMIT")])
print(sorted(os.listdir("/proc/self/fd")), [os.get_inheritable(each) for each in (0, 1, 2)])
for name in ("stdin", "stdout", "stderr"):
    file = getattr(sys, name)
    print(file.name, file.mode, file.encoding, file.errors, file.line_buffering, file.write_through, file.newlines)
    print(file.seekable(), file.isatty(), file.buffer.raw.seekable(), file is getattr(sys, f"__{name}__"))
print(sys.stdin.tell(), sys.stdin.buffer.tell(), locale.getlocale(), sys.getfilesystemencoding())
print(sys.getdefaultencoding(), time.tzname, sys.getswitchinterval(), sys.stdin.reconfigure())
print(gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.callbacks, sys.gettrace(), sys.getprofile())
print(time.process_time() < 60, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, os.times().children_user)
told = ("NoNewPrivs", "Seccomp:", "CapEff", "CapBnd", "SigBlk", "SigIgn", "SigCgt", "Threads", "CoreDumping")
print([line for line in open("/proc/self/status") if line.startswith(told)])
print(os.access("/proc/self/mem", os.W_OK), open("/proc/self/comm").read(), os.readlink("/proc/self/exe"))
print(open("/proc/self/cmdline").read(), open("/proc/self/oom_score_adj").read())
""",
    "modules": """
import sys
print(sorted(sys.modules))
""",
    "input": """
import sys
print(input(), sys.stdin.readline(), list(sys.stdin), sys.stdin.seek(2), sys.stdin.read())
""",
    "raw input": """
import os
print(os.read(0, 7), os.lseek(0, 0, 1))
""",
    "input from the start": """
import os, sys
print(sys.stdin.buffer.peek(3), sys.stdin.buffer.read())
""",
    "an error": """
def f(n):
    return 1 // n if n == 0 else f(n - 1)

print('before')
f(3)
""",
    "an error in an error": """
try:
    {}['a']
except KeyError as error:
    raise ValueError('ä') from error
""",
    "a group of errors": "raise ExceptionGroup('several', [ValueError(1), KeyError(2)])",
    "a wrong script": """
print(1)
print((2)
""",
    "wrong bytes": "print('\\0')",
    "an exit with words": """
import sys
sys.exit('so')
""",
    "an exit with a number": "raise SystemExit(3)",
    "an exit at once": """
import os
print('lost')
os._exit(4)
""",
    "an abort": """
import os
os.abort()
""",
    "a signal": """
import signal
signal.raise_signal(signal.SIGTERM)
""",
    "an interrupt": """
import os, signal, time
os.kill(os.getpid(), signal.SIGINT)
time.sleep(9)
""",
    "a fault": """
import ctypes
ctypes.string_at(0)
""",
    "how deep it may go": """
def f(n):
    try:
        return f(n + 1)
    except RecursionError:
        return n

print(f(0))
""",
    "very deep": """
import sys
sys.setrecursionlimit(10**6)
def f(n):
    return n and 1 + f(n - 1)
print(f(20000))
""",
    "imports": """
import array, asyncio, bisect, collections, ctypes, decimal, fractions, heapq, itertools, math
import random, re, selectors, signal, socket, string, struct, subprocess, threading
print(ctypes.sizeof(ctypes.c_long), struct.pack("<i", 1), socket.AF_INET, signal.SIGINT, ctypes.c_int(3))
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1), ctypes.CDLL(None).abs(-3))
import _ctypes, _socket, _struct
print(_ctypes.Structure is ctypes.Structure, _socket.socket in socket.socket.__mro__)
""",
    "modules of its own": """
import ctypes, socket, struct, helper
print(ctypes.OWN, socket.OWN, struct.OWN, helper.OWN)
""",
    "threads": """
import os, threading
numbers = []
thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
thread.start()
thread.join()
print(threading.main_thread().native_id == os.getpid() == threading.get_native_id())
print(numbers[0] != os.getpid(), threading.active_count(), threading.current_thread() is threading.main_thread())
""",
    "a further interpreter": """
import os
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import ctypes, os, sys
print(sys.argv, sys.path, sorted(sys.path_importer_cache), 'sitecustomize' in sys.modules, os.environ.get('PYTHONPATH'))
'''
for path in (None, "/elsewhere"):
    if path is not None:
        os.environ["PYTHONPATH"] = path
    interpreters.run_string(interpreters.create(), code)
    print("there")
""",
    "its locks": """
import ctypes, os
place, size = ctypes.c_void_p(), ctypes.c_size_t()
number = {"x86_64": 274, "aarch64": 100}[os.uname().machine]
print(ctypes.CDLL(None).syscall(number, 0, ctypes.byref(place), ctypes.byref(size)), bool(place.value), size.value)
""",
    "children": """
import os, subprocess, sys
try:
    os.wait()
except ChildProcessError as error:
    print(error)
pid = os.fork()
if not pid:
    os._exit(7)
print(os.waitpid(pid, 0)[1], os.getppid() > 1)
code = "import os; print(sorted(os.environ), open('/proc/self/environ').read())"
print(subprocess.run([sys.executable, "-c", code], capture_output=True).stdout)
""",
    "a pool": """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(abs, [-1, -2]))
""",
    "the end": """
import atexit, sys
atexit.register(print, "at the end")
class Kept:
    def __del__(self):
        print("gone", sys.version_info[0])
kept = Kept()
sys.stdout.write("no newline")
""",
    "outputs": """
import os, sys
print("a")
sys.stderr.write("b")
os.write(1, b"c")
print("d", flush=True)
sys.stdout.buffer.write(b"\\xff")
""",
    "a closed output": """
import sys
sys.stdout.close()
print('lost')
""",
    "its memory": """
data = bytearray(50_000_000)
data[::4096] = b'x' * len(data[::4096])
print(len(data))
""",
    "a warning": """
import warnings
warnings.warn('once', DeprecationWarning)
warnings.warn('twice')
print('\\\\d')
""",
    "its streams": """
import fcntl, os
print(fcntl.fcntl(1, fcntl.F_GETFL) & os.O_ACCMODE, fcntl.fcntl(0, fcntl.F_GETFL))
""",
}
