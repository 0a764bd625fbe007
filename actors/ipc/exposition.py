"""The desk's figures in Prometheus' text format.

Requests have no labels of their own: there is no bound on how many there are.
"""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from actors.ipc.figures import BOUNDS, Figures
from codec.ipc.desk import STATES


def desk_exposition(figures: Figures, now: float) -> bytes:
    """`now`: seconds since 1970."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Desk(figures, now))
    return generate_latest(registry)


class _Desk(Collector):
    def __init__(self, figures: Figures, now: float) -> None:
        self._figures = figures
        self._now = now

    def collect(self) -> Iterator[Metric]:
        figures, totals = self._figures, self._figures.totals
        requests = GaugeMetricFamily("troupe_ipc_requests", "Requests, by state.", labels=["state"])
        for state in STATES:
            requests.add_metric([state.replace(" ", "_")], totals.by_state.get(state, 0))
        yield requests
        age = 0.0 if totals.oldest is None else max(0.0, self._now - totals.oldest)
        yield GaugeMetricFamily("troupe_ipc_oldest_age_seconds", "Age of the oldest request that is not over.", age)
        waiting = totals.by_state.get("waiting", 0)
        yield GaugeMetricFamily("troupe_ipc_queue_depth", "Requests that wait to be published.", waiting)
        yield GaugeMetricFamily("troupe_ipc_running", "Commands that our server end runs.", totals.running)
        yield CounterMetricFamily("troupe_ipc_lost", "Commands that did not let themselves be ended.", totals.lost)
        yield CounterMetricFamily("troupe_ipc_attempts", "Attempts begun.", figures.attempts)
        ended = CounterMetricFamily("troupe_ipc_ended", "Requests that have ended, by how.", labels=["state"])
        for how, count in figures.ended.items():
            ended.add_metric([how.replace(" ", "_")], count)
        yield ended
        yield self._latency()
        yield GaugeMetricFamily("troupe_ipc_base_up", "1 if the folder can be used.", float(not totals.trouble))
        yield GaugeMetricFamily("troupe_ipc_peer_alive", "1 if somebody answers.", float(totals.peer_alive))
        yield CounterMetricFamily("troupe_ipc_events", "Changes of files that the system has told.", totals.events)
        yield CounterMetricFamily("troupe_ipc_overflows", "How often it has lost some of them.", totals.overflows)
        yield CounterMetricFamily("troupe_ipc_rescans", "How often the whole folder was read.", totals.rescans)
        yield GaugeMetricFamily("troupe_ipc_quarantined", "Entries in quarantine.", totals.quarantined)
        yield GaugeMetricFamily("troupe_ipc_withheld", "Files that cannot be read now.", totals.withheld)
        yield GaugeMetricFamily("troupe_ipc_sync_seconds", "How long the last sync took.", totals.sync_ms / 1000)

    def _latency(self) -> Metric:
        sum_so_far, buckets = 0, []
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self._figures.latencies, strict=True):
            sum_so_far += count
            buckets.append((bound, sum_so_far))
        name, about = "troupe_ipc_latency_seconds", "From acceptance to success."
        return HistogramMetricFamily(name, about, buckets=buckets, sum_value=self._figures.seconds)
