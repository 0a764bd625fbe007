"""Asks a server which models it has, and whether it has a certain one.

Ollama is asked for each model's window, too, several at a time, and llama.cpp for its only one. A window that has not
come by the deadline is left out: a list without windows is better than none.
"""

from collections.abc import Sequence

import trio
from msgspec.structs import replace

from codec.agent import ollama, openai
from codec.agent.addresses import openai_root
from codec.agent.answering import excerpt
from codec.agent.models import ModelFact, ModelTrouble
from codec.agent.refusals import refusal
from codec.words import lasting
from transports.agent.asking import Asking, ModelServer, Patience

MOST_SHOWN = 100
"""Models of one Ollama that are asked for their windows..."""
AT_ONCE = 8
"""...and how many of them at the same time."""
MOST_NAMED = 8
"""Models that a sentence names."""


async def listed(asking: Asking, place: ModelServer, patience: Patience) -> Sequence[ModelFact]:
    """What the server has now. Raises ModelTrouble."""
    facts: list[ModelFact] = []
    with trio.move_on_after(patience.list) as deadline:
        facts += await _names(asking, place, patience)
        if place.provider == "ollama":
            await _show(asking, place, patience, facts)
        elif place.provider == "llamacpp":
            await _tell_window(asking, place, patience, facts)
    if deadline.cancelled_caught and not facts:
        raise ModelTrouble(f"{place.who} did not say within {lasting(patience.list)} which models it has.")
    return facts


async def check(asking: Asking, place: ModelServer, model: str, patience: Patience) -> None:
    """Raises ModelTrouble if the server does not have this model."""
    try:
        with trio.fail_after(patience.check):
            if place.provider == "ollama":
                await _check_by_showing(asking, place, model, patience)
            else:
                await _check_by_listing(asking, place, model, patience)
    except trio.TooSlowError:
        raise ModelTrouble(f"{place.who} did not answer within {lasting(patience.check)}.") from None


async def _check_by_showing(asking: Asking, place: ModelServer, model: str, patience: Patience) -> None:
    """It knows a model under several names, so it is asked."""
    async with asking.ask(place, "POST", place.url + ollama.SHOW, {"model": model}) as answer:
        if answer.status == 200:
            return
        trouble = refusal(await answer.refused(model))
    if answer.status != 404:
        raise trouble
    raise _missing(trouble, await _names(asking, place, patience))


async def _check_by_listing(asking: Asking, place: ModelServer, model: str, patience: Patience) -> None:
    try:
        facts = await _names(asking, place, patience)
    except NoList:
        return  # such a server says so when it is asked
    names = {fact.id for fact in facts}
    if names and model not in names and place.provider != "llamacpp":  # which has one, and takes any name for it
        raise _missing(
            ModelTrouble(f"{place.who} has no model {excerpt(model)!r}. Choose another one.", recoverable=False), facts
        )


class NoList(ModelTrouble):
    """The server does not list models."""


async def _names(asking: Asking, place: ModelServer, patience: Patience) -> Sequence[ModelFact]:
    path = place.url + ollama.TAGS if place.provider == "ollama" else openai_root(place.url) + openai.MODELS
    async with asking.ask(place, "GET", path) as answer:
        if answer.status != 200:
            trouble = refusal(await answer.refused())
            raise NoList(str(trouble)) if answer.status in (404, 405) else trouble
        body = await answer.whole(patience.list_bytes)
    if place.provider == "ollama":
        return ollama.listed(body, place.url, place.who)
    return openai.listed(body, place.provider, place.url, place.who)


async def _show(asking: Asking, place: ModelServer, patience: Patience, facts: list[ModelFact]) -> None:
    """Puts the windows into the list."""
    limit = trio.CapacityLimiter(AT_ONCE)

    async def show(number: int) -> None:
        fact = facts[number]
        try:
            async with limit, asking.ask(place, "POST", place.url + ollama.SHOW, {"model": fact.id}) as answer:
                if answer.status == 200:
                    facts[number] = ollama.shown(await answer.whole(patience.list_bytes), fact)
        except (ModelTrouble, trio.TooSlowError):
            return  # it is there, as its name tells; its window stays unknown

    async with trio.open_nursery() as nursery:
        for number in range(min(len(facts), MOST_SHOWN)):
            nursery.start_soon(show, number)


async def _tell_window(asking: Asking, place: ModelServer, patience: Patience, facts: list[ModelFact]) -> None:
    """llama.cpp has one model, and tells its window elsewhere."""
    try:
        async with asking.ask(place, "GET", place.url + openai.PROPS) as answer:
            window = openai.told_window(await answer.whole(patience.list_bytes)) if answer.status == 200 else None
    except (ModelTrouble, trio.TooSlowError):
        return  # as above
    facts[:] = [replace(fact, context_window=fact.context_window or window) for fact in facts]


def _missing(trouble: ModelTrouble, facts: Sequence[ModelFact]) -> ModelTrouble:
    names = ", ".join(excerpt(fact.id) for fact in facts[:MOST_NAMED])
    more = ", and more" if len(facts) > MOST_NAMED else ""
    return ModelTrouble(f"{trouble} It has {names or 'none'}{more}.", recoverable=False)
