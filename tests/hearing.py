"""Tests hear signals as a program in a terminal does, however they were started.

Whoever starts pytest with `nohup` has SIGHUP ignored, and a script that starts it with `&` SIGINT. That is inherited by
everything that tests start, and by the code under test itself, which then rightly does not heed them. So what is
ignored is handled from the start: by nothing at all, for a hangup (pytest goes on, as it was asked to, and whatever it
starts has the system's own way again), and for Ctrl-C by Python's own exception, which trio knows.

A test in which a signal is to be ignored ignores it itself.
"""

import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # xdist: the workers run the tests, and are to inherit what is ignored
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
