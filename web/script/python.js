/**
 * Python code that is run before a script. Its value is an object that runs one script and can be asked to stop it.
 *
 * `perform(source, name)` returns JSON: ["terminated"], ["stopped"], or ["error", traceback]. The traceback begins in
 * the script, without the frames of this code above it.
 *
 * It works around four faults of sidekick-py 0.0.7. The client imports websockets, which it does not need here. It only
 * logs errors in a callback, where nobody sees them. wait_for_connection() raises an error, although the page is always
 * connected before its script, and keeps what is drawn. And run_forever(), with which most scripts end, logs an error,
 * although a script that has ended still receives the reader's input.
 */

export const PYTHON = String.raw`
import __main__
import asyncio
import builtins
import importlib.util
import json
import linecache
import logging
import sys
import time
import traceback
import types

from pyodide.code import eval_code_async

STEP = 0.02  # seconds


def refuse_input(*_):
    raise RuntimeError(
        "input() cannot wait here. Ask on the board: sidekick.Console(show_input=True, on_submit=...), or a Textbox"
    )


def sleep(seconds, at_once=time.sleep, now=time.monotonic):
    """As time.sleep, in short steps: between two of them Python hears that it is to stop."""
    sys.stdout.flush()
    end = now() + seconds
    at_once(min(seconds, STEP))
    while (left := end - now()) > 0:
        at_once(min(left, STEP))


def connect_at_once():
    """The released client's wait_for_connection() is for Python outside of a browser."""
    try:
        import sidekick
    except Exception:
        return  # the script that imports it will be told why

    def wait_for_connection(timeout=None):
        sidekick.activate_connection()

    sidekick.wait_for_connection = sidekick.connection.wait_for_connection = wait_for_connection


def told(error, name):
    """The traceback, from the script's own first line on."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename != name:
        step = step.tb_next
    return "".join(traceback.format_exception(error.with_traceback(step)))


class Performer:
    def __init__(self):
        self._task = None
        self._stopping = False

    async def perform(self, source, name):
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        __main__.__file__ = name
        self._task = asyncio.current_task()
        try:
            await eval_code_async(source, vars(__main__), filename=name)
        except KeyboardInterrupt:
            return json.dumps(["stopped"])
        except asyncio.CancelledError as error:
            return json.dumps(["stopped"] if self._stopping else ["error", told(error, name)])
        except SystemExit as exit:
            if isinstance(exit.code, str):
                print(exit.code, file=sys.stderr)
        except BaseException as error:
            return json.dumps(["error", told(error, name)])
        finally:
            self._task = None
            sys.stdout.flush()
            sys.stderr.flush()
        return json.dumps(["terminated"])

    def give_up(self):
        """Whether there was something to give up; it is then given up when it next waits."""
        self._stopping = True
        return self._task is not None and self._task.cancel()


sys.stdout.reconfigure(line_buffering=True)
sys.stderr.reconfigure(line_buffering=True)
builtins.input = refuse_input
time.sleep = sleep
logging.basicConfig(level=logging.ERROR, format="%(message)s")
logging.getLogger().handlers[0].addFilter(lambda record: "run_service_forever()" not in record.getMessage())
if importlib.util.find_spec("websockets") is None:
    sys.modules["websockets"] = types.ModuleType("websockets")
if importlib.util.find_spec("sidekick") is not None:
    connect_at_once()

Performer()
`;
