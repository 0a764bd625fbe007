"""The process in which large outputs are compared: `python -m actors.judge.comparer`. See comparing.py."""

import sys

from actors.judge.comparing import answered


def main() -> None:
    line = sys.stdin.buffer.readline()
    sys.stdout.buffer.write(answered(line, sys.stdin.buffer.read()))


if __name__ == "__main__":
    main()
