"""Cures that are measured: the right time is compared, and what cannot be measured has its reason."""

from dataclasses import replace
from pathlib import Path as File

import pytest
from accounts import Path, page

from slownet.api import accounted, measured_cures
from slownet.cli.why_cures import cures_text
from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import ToolError
from slownet.theory.stats import Summary
from slownet.waits import of_run
from slownet.waits.account import Cause

LABEL = {"rtt": "40ms", "cure": "none"}


def sample(ms, label=LABEL):
    metrics = {
        "time_ms": {"mean": ms, "n": 10},
        "rate_per_second": {"mean": 1000 / ms},
        "time_p99_ms": {"mean": ms, "of": "time_ms"},
    }
    return {"status": "ok", "cell": label, "tool": "ab", "metrics": metrics, "captures": [{"before": "b", "host": "client"}]}


def run(ms=160.0, others=()):
    cells = [
        Cell(label, label, (sample(time, label),), {"time_ms": Summary(time, time, time, 10)})
        for label, time in ((LABEL, ms), *others)
    ]
    return RunData(File("runs/x"), "x", {"source": "x"}, tuple(cells))


def far_page():
    path = Path().shake("client", "web", 20.0).ask("client", "web", ms=20.0)
    for _ in range(2):
        path.trip("web", "client", 20.0, Cause.WINDOW, "slow start, 10 segments in flight")
        path.trip("client", "web", 20.0, Cause.WINDOW, "slow start, 20 segments in flight")
    return path.account()


@pytest.fixture
def measured(monkeypatch):
    """What is measured again, as pairs of cell and environment; the time is 80 ms, and cells with keep-alive fail."""
    asked = []

    def again(before, cell, env=None):
        asked.append((dict(cell), dict(env or {})))
        if "keep-alive" in str(env):
            raise ToolError("ab ended")
        return replace(run(80.25), directory=File(f"runs/{len(asked)}"))

    monkeypatch.setattr(accounted, "again", again)
    monkeypatch.setattr(of_run, "of_sample", lambda *arguments, **more: far_page())
    return asked


def test_a_cure_is_measured_with_its_settings_in_the_same_cell(measured):
    found = measured_cures.cured(run(), far_page(), LABEL)
    outcome = next(each for each in found.outcomes if each.cure.name.startswith("a first window"))
    assert (LABEL, {"SLOWNET_SETTINGS": "initcwnd=100;initrwnd=100"}) in measured
    assert (outcome.metric, outcome.before_ms, outcome.after_ms, outcome.saved_ms) == ("time_ms", 160.0, 80.25, 79.75)
    assert outcome.cure.saves_ns == 80_000_000
    said = cures_text(far_page(), found)
    assert said.startswith("160 ms: 4 round trips to web")
    assert f"{'a first window of 100 segments':44} {80:10.3f} {79.75:10.3f} {80.25:10.3f} ms" in said
    assert "time_ms, 160.000 ms without a cure" in " ".join(said.split())


def test_a_cure_that_fails_has_the_reason_and_the_others_are_measured(measured):
    found = measured_cures.cured(run(), far_page(), LABEL)
    failed = next(each for each in found.outcomes if "kept" in each.cure.name)
    assert (failed.saved_ms, failed.error) == (None, "ab ended")
    assert "40 ms  a kept connection to web (ab ended)" in cures_text(far_page(), found)


def test_an_interrupt_keeps_what_was_measured(measured, monkeypatch):
    def interrupted(before, cell, env=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(accounted, "again", interrupted)
    found = measured_cures.cured(run(), far_page(), LABEL)
    assert found.interrupted
    assert [each.error for each in found.outcomes] == ["interrupted", "interrupted"]
    assert "a kept connection to web (interrupted)" in cures_text(far_page(), found)


def test_what_only_a_program_can_change_is_not_measured(measured):
    found = measured_cures.cured(run(), page(), LABEL)
    waits = next(each for each in found.outcomes if "wait" in each.cure.name)
    assert waits.saved_ms is None
    assert "the program's code" in cures_text(page(), found)
    assert all("wait" not in str(env) for _, env in measured)


def test_other_values_of_the_experiments_own_conditions_are_shown_and_links_are_not(measured):
    others = (
        ({"rtt": "40ms", "cure": "varnish"}, 20.0),
        ({"rtt": "0ms", "cure": "none"}, 1.0),
        ({"rtt": "0ms", "cure": "varnish"}, 2.0),
    )
    found = measured_cures.cured(run(160.0, others), far_page(), LABEL)
    assert found.others == (measured_cures.Otherwise("cure varnish instead of none", "time_ms", 160.0, 20.0),)
    said = cures_text(far_page(), found)
    assert "other cells of the run, time_ms instead of 160.000:\n    20.000  cure varnish instead of none" in said


def test_the_metric_is_the_time_of_the_operation():
    assert measured_cures.metric_of(sample(160.2), far_page()) == "time_ms"
    assert measured_cures.metric_of(sample(16.0), far_page()) == ""


def test_the_slopes_of_links_are_there_and_the_largest_promise_is_whole(measured):
    path = Path()
    for each in range(7):
        path.ask("client", "web", f"GET /{each}", 10.0)
    found = measured_cures.cured(run(), path.account(), LABEL)
    said = cures_text(path.account(), found, {("client", "web"): ["client-s1", "s1-web"]})
    assert "1 ms of round trip less: client-s1 saves 7 ms, s1-web saves 7 ms" in said
    promised = said.partition("not measured:\n")[2]
    assert " ".join(promised.split()).startswith(
        "120 ms a pipeline to web (the program's code, where no question needs an answer before it)"
    )


def test_the_text_is_short(measured):
    lines = cures_text(page(), measured_cures.cured(run(), page(), LABEL)).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
