"""A launcher whose interpreters do not wait for long, and are soon replaced."""

import sys
from os.path import abspath, dirname

sys.path.append(dirname(dirname(dirname(dirname(abspath(__file__))))))

from transports.process.launcher import standby, warden

standby.AGAIN_SECONDS = 1.0
standby.MOST_CLONES = 3

if __name__ == "__main__":
    warden.serve()
