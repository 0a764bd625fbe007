"""Started by its path, with `-I -S`: neither site-packages nor the current folder are on its path, until we add ours
at the end, where it can hide nothing of the standard library."""

import sys
from os.path import abspath, dirname


def main() -> None:
    sys.path.append(dirname(dirname(dirname(dirname(abspath(__file__))))))
    from transports.process.launcher.warden import serve

    serve()


if __name__ == "__main__":
    main()
