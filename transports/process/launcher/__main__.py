"""The launcher's start. It is started by its path with `-I -S`, so neither site-packages nor the current folder are on
its module path. We add our own folder at the end, where it cannot hide modules of the standard library."""

import sys
from os.path import abspath, dirname


def main() -> None:
    sys.path.append(dirname(dirname(dirname(dirname(abspath(__file__))))))
    from transports.process.launcher.warden import serve

    serve()


if __name__ == "__main__":
    main()
