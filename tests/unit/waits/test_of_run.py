"""The account of a sample: its notes about the clock, encryption, and a command's end."""

import io
from types import SimpleNamespace

import pytest
from told import Told, opened

from slownet.model.errors import ExperimentError
from slownet.waits import dissected, of_run
from slownet.waits.of_run import ENCRYPTED

FREE = {"clock": "virtual", "tdf": "inf", "cpu": "free"}
HELLO = bytes.fromhex("16030100280100002403030000000000000000000000000000000000000000000000000000000000000000000000")


@pytest.fixture(autouse=True)
def without_tshark(monkeypatch):
    monkeypatch.setattr(dissected.shutil, "which", lambda name: "tshark")
    monkeypatch.setattr(dissected, "_dissect", lambda program, file, keys: [])


@pytest.fixture
def measured(tmp_path):
    """A function: the notes of a question with a payload, on a clock; the sample has further fields."""

    def notes(payload=b"?", on=FREE, **fields):
        told = Told(tmp_path)
        opened(told)
        told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=payload)
        told.say("web", "client", "PA", 501, 101 + len(payload), at=60.0, came=80.0, ports=(80, 40000), payload=payload)
        captures = [
            {"file": each.main, "before": each.before, "host": each.host, "addresses": list(each.addresses), "packets": 6}
            for each in told.captures()
        ]
        run = SimpleNamespace(directory=tmp_path, facts=on)
        notes.last = run, {"cell": {}, "status": "ok", "captures": captures, **fields}
        found = of_run.of_sample(*notes.last)
        assert found.elapsed_ns == 80 * 10**6
        return found.notes

    return notes


def test_at_free_cpu_there_is_nothing_to_say(measured):
    assert measured() == ()


@pytest.mark.parametrize(
    ("clock", "tdf", "cpu", "kind"), [("real", None, None, "is real"), ("virtual", "1", "time", "charges for CPU")]
)
def test_a_clock_that_hides_something(measured, clock, tdf, cpu, kind):
    found = measured(on={"clock": clock, "tdf": tdf, "cpu": cpu})
    assert found == (f"the clock {kind}: what a host computes and what it waits for look alike",)


def test_tls_without_a_key_log(measured, tmp_path):
    assert measured(HELLO) == (ENCRYPTED,)
    for name in ("000-ran.keys", "000-handshake.keys.txt", "000-page.lossy.keys"):
        (tmp_path / name).write_text("CLIENT_RANDOM 1 2\n")
        assert measured(HELLO, raw=["000-ran.txt", name]) == ()
    assert measured(HELLO, raw=["000-monkeys", "000-keyspace.txt"]) == (ENCRYPTED,)


def test_why_a_sample_failed(measured):
    assert measured(error="ping did not end within 3 s") == ("ping did not end within 3 s",)


def test_how_a_command_ended(measured):
    ended = {"facts": {"host": "client", "status": 7, "complaint": "curl: (7) refused"}}
    assert measured(**ended) == ("the command ended with status 7: curl: (7) refused",)


def test_what_a_command_did_without_packets(measured):
    ran = {"facts": {"host": "client", "status": 0, "complaint": ""}}
    assert measured(metrics={"command_ms": {"mean": 81.9, "n": 1}}, **ran) == ()
    assert measured(metrics={"command_ms": {"mean": 115.0, "n": 1}}, **ran) == (
        "the command ran 115 ms, 35 ms of it before its first packet or after its last",
    )


def cells_of(*labels):
    samples = [{"cell": label, "status": "ok", "captures": [{"before": "x"}]} for label in labels]
    return SimpleNamespace(cells=[SimpleNamespace(samples=[each]) for each in samples])


@pytest.mark.parametrize(
    ("label", "line"),
    [
        ({"rtt": "21ms"}, "the run has no cell with rtt 21ms, --cell: did you mean '20ms'?"),
        ({"rt": "20ms"}, "the run varies no 'rt', --cell: did you mean 'rtt'?"),
        ({"rtt": "20ms"}, "several cells have rtt 20ms, --cell: name one of rtt 20ms, way a; rtt 20ms, way b"),
        ({"rtt": "0ms", "way": "b"},
         "the run has no cell rtt 0ms, way b, --cell: it has rtt 0ms, way a; rtt 20ms, way a; rtt 20ms, way b"),
    ],
)  # fmt: skip
def test_a_cell_that_is_not_there_is_one_short_line(label, line):
    run = cells_of({"rtt": "0ms", "way": "a"}, {"rtt": "20ms", "way": "a"}, {"rtt": "20ms", "way": "b"})
    with pytest.raises(ExperimentError) as error:
        of_run.sample_of(run, label)
    assert str(error.value) == line
    assert of_run.sample_of(run, {"rtt": "0ms"})["cell"] == {"rtt": "0ms", "way": "a"}


def test_a_run_without_conditions_or_samples_has_its_own_line():
    with pytest.raises(ExperimentError, match="varies no 'rtt', --cell: leave it out: the run has one cell"):
        of_run.sample_of(cells_of({}), {"rtt": "1ms"})
    with pytest.raises(ExperimentError, match="nothing was measured in the run, runs/x: measure it again"):
        of_run.sample_of(SimpleNamespace(cells=[SimpleNamespace(samples=[])], directory="runs/x"), {})


def test_of_very_many_cells_twelve_are_listed():
    run = cells_of(*({"rtt": f"{number}ms", "way": "a"} for number in range(100)))
    with pytest.raises(ExperimentError, match="rtt 11ms, way a and 88 more"):
        of_run.sample_of(run, {"way": "a"})


def test_a_cell_is_analysed_once_for_its_report_and_for_the_command(measured, monkeypatch):
    assert measured() == ()
    monkeypatch.setattr(of_run, "_made", lambda *parts: pytest.fail("analysed again"))
    run, sample = measured.last
    assert of_run.of_sample(run, sample).elapsed_ns == 80 * 10**6
    (run.directory / sample["captures"][0]["file"]).write_bytes(b"")
    with pytest.raises(pytest.fail.Exception, match="analysed again"):
        of_run.of_sample(run, sample)


def test_the_account_is_of_the_program_that_was_measured(tmp_path):
    """A replica (client) keeps a connection to web, which pushes what a program on web's host writes, and waits for an answer.

    After it the replica opens a connection to web, which ends at once: that is no part of what was measured.
    """
    told = Told(tmp_path)
    opened(told)
    told.say("web", "client", "PA", 501, 101, at=100.0, came=120.0, ports=(80, 40000), payload=b"a row")
    told.say("client", "web", "PA", 101, 506, at=120.0, came=140.0, payload=b"kept")
    told.say("client", "web", "S", 900, 0, at=500.0, came=520.0, ports=(40001, 80))
    told.say("web", "client", "RA", 0, 901, at=520.0, came=540.0, ports=(80, 40001))
    captures = [
        {"file": each.main, "before": each.before, "host": each.host, "addresses": list(each.addresses), "packets": 6}
        for each in told.captures()
    ]
    run = SimpleNamespace(directory=tmp_path, facts=FREE)
    sample = {"cell": {}, "status": "ok", "captures": captures}
    last = of_run.of_sample(run, sample)
    began = last.begin_ns - 500 * 10**6
    assert (last.client, last.elapsed_ns) == ("client", 40 * 10**6)
    program = [began + 95 * 10**6, began + 150 * 10**6]
    found = of_run.of_sample(run, {**sample, "programs": [program]})
    assert (found.client, found.begin_ns - began, found.elapsed_ns) == ("web", 100 * 10**6, 40 * 10**6)
    beside = of_run.of_sample(run, {**sample, "programs": [program, [began + 490 * 10**6, began + 600 * 10**6]]})
    assert beside.begin_ns == last.begin_ns
    idle = of_run.of_sample(run, {**sample, "programs": [[began + 200 * 10**6, began + 300 * 10**6]]})
    assert idle.begin_ns == last.begin_ns


@pytest.mark.parametrize(
    ("info", "text"),
    [(">", None), ("<d", None), (">P/B/E", None), ("GET  / HTTP/1.1", "GET / HTTP/1.1"), ("<d> x", "<d> x"), ("", None)],
)
def test_letters_of_messages_are_not_what_they_say(monkeypatch, tmp_path, info, text):
    monkeypatch.undo()
    done = SimpleNamespace(stdout=f"7\tPGSQL\t{info}\t\t\n8\tTCP\t[ACK]\t\t\n9\tPGSQL\t>Q\t\tSELECT\\n 1\n".encode())
    monkeypatch.setattr(dissected.subprocess, "run", lambda *words, **options: done)
    found = {number: said for number, said, _ in dissected._dissect("tshark", io.BytesIO(), b"")}
    assert found == {9: "SELECT 1"} | ({7: text} if text else {})


def test_the_sample_that_was_captured_twice(measured):
    """Of a cell's samples, one has captures of what enters the queues; a failed one is the last choice."""
    measured()
    run, sample = measured.last
    once = {
        **sample,
        "captures": [{name: value for name, value in each.items() if name != "before"} for each in sample["captures"]],
    }
    failed = {**sample, "status": "failed"}
    for samples, chosen in (((failed, once, sample, dict(sample)), 2), ((failed, once, dict(once)), 1), ((failed,), 0)):
        found = of_run.sample_of(SimpleNamespace(cells=[SimpleNamespace(samples=samples)], directory=run.directory), {})
        assert found is samples[chosen]
