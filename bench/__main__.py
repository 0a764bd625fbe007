"""`python -m bench` lists the benches; `python -m bench NAME [NAME...]` runs them, and exits with 0 whatever the
figures are."""

import argparse
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import bench
from bench.harness import Bench, LongBench, Result, print_json, print_table


def discover(package: str, path: Sequence[str]) -> dict[str, Bench]:
    """The modules of a package that are benches, by their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(path) if module.name != "__main__")
    modules = [importlib.import_module(f"{package}.{name}") for name in names]
    return {module.NAME: cast("Bench", module) for module in modules if hasattr(module, "NAME")}


def main(arguments: Sequence[str], benches: dict[str, Bench]) -> int:
    options = _parse(arguments, benches)
    if not options.names:
        print("python -m bench NAME [NAME...] [--json] [--rounds N]\n")
        for each in benches.values():
            print(f"  {each.NAME:<10}  {each.ABOUT}")
        return 0
    for name in options.names:
        results = _run(benches[name], options)
        if options.json:
            print_json(results)
        else:
            print(f"{name}: {benches[name].ABOUT}\n")
            print_table(results)
            print()
    return 0


def _parse(arguments: Sequence[str], benches: dict[str, Bench]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench", description="Measure ours beside the next best thing.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="one of: " + ", ".join(benches))
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=_positive, default=21, metavar="N", help="slices of each side (21)")
    parser.add_argument("--minutes", type=_positive, metavar="N", help="of a bench that takes its time (soak: 3)")
    parser.add_argument("--queries", type=_file, metavar="FILE", help="of retrieval: questions, and what answers them")
    parser.add_argument("--source", type=_folder, metavar="DIR", help="of index and retrieval: the sources to read")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in benches:
            parser.error(f"there is no bench {name!r}; there are: {', '.join(benches)}")
    return options


def _run(each: Bench, options: argparse.Namespace) -> Iterator[Result]:
    if options.minutes is not None and hasattr(each, "MINUTES"):
        return cast("LongBench", each).run(options.rounds, minutes=options.minutes)
    takes = inspect.signature(each.run).parameters
    given = {name: getattr(options, name) for name in ("source", "queries") if name in takes}
    return each.run(options.rounds, **given)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return Path(text)


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}")
    return Path(text)


_positive.__name__ = "number of at least 1"  # argparse says: invalid number of at least 1 value: '0'

if __name__ == "__main__":
    try:
        status = main(sys.argv[1:], discover("bench", bench.__path__))
    except BrokenPipeError:  # whoever reads, as `head` does, has read enough; there is nobody left to print to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
