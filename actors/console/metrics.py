"""The server's figures in Prometheus' text format.

Each actor in a supervisor's fixed list has its own series. Actors that are started at runtime (rooms, peers, runs) come
and go. A label for each would grow without end, and a sum of their counters would fall when one leaves. So their number
and the sum of their queues appear under their supervisor's path.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from actors.console.picture import Picture


def exposition(picture: Picture) -> bytes:
    registry = CollectorRegistry()
    registry.register(_House(picture))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return generate_latest(registry)


class _House(Collector):
    def __init__(self, picture: Picture) -> None:
        self._picture = picture

    def collect(self) -> Iterator[Metric]:
        totals = self._picture.totals
        yield GaugeMetricFamily("troupe_actors", "Living actors.", totals.actors)
        yield CounterMetricFamily("troupe_messages", "Messages handled.", totals.handled)
        yield CounterMetricFamily("troupe_restarts", "Actors restarted.", totals.restarts)
        yield CounterMetricFamily("troupe_crashes", "Actors that failed.", totals.crashes)
        yield GaugeMetricFamily("troupe_trouble", "Actors that somebody should look at.", totals.trouble)
        yield CounterMetricFamily("troupe_dead_letters", "Messages nobody will handle.", totals.dead_letters)
        yield CounterMetricFamily("troupe_dropped", "Messages dropped by full mailboxes.", totals.dropped)
        yield GaugeMetricFamily("troupe_lag_seconds", "How late the last tick came.", totals.lag)
        up = GaugeMetricFamily("troupe_system_up", "1 if the system works; absent if switched off.", labels=["system"])
        for system in self._picture.systems:
            if system.state != "off":
                up.add_metric([system.name], 1.0 if system.state == "up" else 0.0)
        yield up
        yield from self._actors()

    def _actors(self) -> Iterator[Metric]:
        queued = GaugeMetricFamily("troupe_mailbox_queued", "Messages waiting in its mailbox.", labels=["actor"])
        handled = CounterMetricFamily("troupe_actor_messages", "Messages it handled.", labels=["actor"])
        restarts = CounterMetricFamily("troupe_actor_restarts", "How often it was restarted.", labels=["actor"])
        crashes = CounterMetricFamily("troupe_actor_crashes", "How often it failed.", labels=["actor"])
        count = GaugeMetricFamily("troupe_dynamic_actors", "Its children started at runtime.", labels=["supervisor"])
        waiting = GaugeMetricFamily("troupe_dynamic_queued", "Messages waiting in theirs.", labels=["supervisor"])
        crowds: dict[str, list[int]] = {}
        for node in self._picture.nodes.values():
            if node.dynamic and node.parent is not None:
                crowd = crowds.setdefault(node.parent, [self._picture.nodes[node.parent].folded, 0])
                crowd[0] += 1
                crowd[1] += node.queued
            else:
                queued.add_metric([node.path], node.queued)
                handled.add_metric([node.path], node.handled)
                restarts.add_metric([node.path], node.restarts)
                crashes.add_metric([node.path], node.crashes)
        for path, (living, messages) in crowds.items():
            count.add_metric([path], living)
            waiting.add_metric([path], messages)
        yield from (queued, handled, restarts, crashes, count, waiting)
