"""python -m tests.agent.fakes ollama|openai [--port 0] [--rate 50] [--cut 0] [--model NAME]... [--key KEY]

Its first line says where it listens. It ends when its input does, or by a signal.
"""

import argparse
import os

import trio

from tests.agent.fakes.ollama import FakeOllama
from tests.agent.fakes.openai import FakeOpenAI
from tests.agent.fakes.script import MODELS, FakeModel
from tests.agent.fakes.talking import talking
from tests.agent.fakes.wire import FakeServer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.agent.fakes")
    parser.add_argument("family", choices=["ollama", "openai"])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rate", type=float, default=50.0, help="tokens per second; 0: as fast as they are read")
    parser.add_argument("--cut", type=int, default=0, help="bytes in each piece of an answer; 0: a piece is a token")
    parser.add_argument("--model", action="append", default=[], help="may be given several times")
    parser.add_argument("--key", default="", help="of openai: refuse whoever does not send it")
    given = parser.parse_args()
    models = [FakeModel(name) for name in given.model] or MODELS
    fake: FakeServer
    if given.family == "ollama":
        fake = FakeOllama(talking(given.rate), models=models, cut=given.cut)
    else:
        fake = FakeOpenAI(talking(given.rate), models=models, cut=given.cut, key=given.key)
    try:
        trio.run(_until_input_ends, fake, given.port)
    except* KeyboardInterrupt:
        pass


async def _until_input_ends(fake: FakeServer, port: int) -> None:
    async with fake.running(port):
        print(f"listening on {fake.url}", flush=True)
        while await trio.to_thread.run_sync(os.read, 0, 4096, abandon_on_cancel=True):
            pass


if __name__ == "__main__":
    main()
