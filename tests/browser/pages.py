"""The pages that the tests open: runs with every kind of picture, verdict and note, made of numbers that are given here."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import accounts

from slownet import Faults, History, Violation
from slownet.classroom import class_marks, key, marks
from slownet.comparison import field_page
from slownet.comparison.compare import compare
from slownet.comparison.field_tables import lines
from slownet.comparison.record import Field
from slownet.judge.claim import law, predicted
from slownet.judge.histories.history import Event
from slownet.judge.histories.log_lines import LogLine
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import TEXT
from slownet.report.account_section import write_difference, write_why
from slownet.report.html_page import Differences, write_page
from slownet.report.hunt_page import Drawn, write_hunt
from slownet.report.sweep_page import write_sweep
from slownet.report.view import view
from slownet.reproductions.reproduction import Reproduction, render
from slownet.theory import published
from slownet.theory.stats import Summary
from slownet.tools.web.request import Page
from slownet.waits.difference import difference

DATA = Path(__file__).parents[1] / "unit"
sys.path += [str(DATA), str(DATA / "waits"), str(DATA / "report")]
from test_answers_of_experiments import RUNS, captured  # noqa: E402  # each experiment's cells and claims, as measured
from told import Told, opened  # noqa: E402  # stands beside the unit tests of slownet why

TIME, RATE = "time_per_request_ms", "requests_per_second"
FACTS = {
    "question": "How much slower is a page when its reader is far away?", "clock": "virtual", "tdf": 4, "kernel": "7.3.4",
    "place": "lab", "operation": "page", "versions": {"nginx": "1.26.3"},
    "settings": {"net.ipv4.tcp_congestion_control": "cubic"},
    "topology": {
        "hosts": ["client", "web", "db"], "switches": ["switch"],
        "links": {"client-switch": ["client", "switch"], "web-switch": ["web", "switch"], "db-switch": ["db", "switch"]},
    },
}  # fmt: skip
NAMES = (
    "law", "latency", "segments", "throughput", "cures", "odd", "side", "reproduce", "why", "why-two",
    "why-repeated", "why-mixed", "accounted", "marks",
)  # fmt: skip
FEATURES = (*NAMES, "sweep", "sweep-many", "sweep-verdicts", "hunt", "hunt-two", "hunt-nothing", "field", "compare")
"""Beside what runs show, the pages of other commands."""
REPORTS = tuple(f"report-{name.replace('/', '-')}" for name in sorted(RUNS))
"""The page of each experiment."""


def around(value, half=1.0):
    return Summary(value, value - half, value + half, 100)


def judged(verdict, name="a claim of its author's"):
    return Judgement(name, verdict, 1.0, 1.0, 0.9, 1.1, (0.9, 1.1), (TEXT(text="1.00 measured"),))


def law_run(k=4.0, directory="a-client_delay", times=(0, 10, 40, 120)):
    cells = []
    for rtt in times:
        sample = {"status": "ok", "verified_rtt_ms": rtt + 0.06, "links": {"client-switch": f"+{rtt} ms RTT"} if rtt else {}}
        time = 12 + k * rtt + 9 * (rtt == 10)  # off the law
        metrics = {TIME: around(time), RATE: around(1000 / time, 0.01)}
        cells.append(Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, (sample,), metrics))
    run = RunData(Path(directory), "client_delay", FACTS | {"published": published.client_delay()}, tuple(cells))
    return run.judged(
        [law(TIME, round_trips=4, within=0.1).judge(run), *map(judged, ("refuted", "inconclusive", "not judged"))]
    )


def latency_run():
    steps = [[0.001, 0.5, 5000], [0.9, 0.9, 9000], [1.5, 0.999, 9990], [2.0, 1.0, 10000]]
    sent = [[0.001, 0.995, 9950], [2.0, 1.0, 10000]]
    label, metrics = {"load": "2.32 times"}, {"corrected_p99_s": around(1.4, 0.1), "uncorrected_p99_s": around(0.001, 0.0)}
    sample = {"status": "ok", "facts": {"corrected_spectrum": steps, "uncorrected_spectrum": sent}}
    return RunData(Path("b-overload"), "overload", FACTS, (Cell(label, label, (sample,), metrics),)).judged(
        [judged("supported")]
    )


def segments_run(folder):
    raw = folder / "raw"
    raw.mkdir()
    shutil.copy(DATA / "tools/data/strace-write-write-read.txt", raw / "a.strace.txt")
    shutil.copy(DATA / "links/packets/data/write-write-read.pcap", raw / "a.pcap")
    cells = []
    for pattern, mean in (("write-write-read", 43.6), ("nodelay", 0.006), ("cork", 0.005)):
        evidence = ["raw/a.strace.txt", "raw/a.pcap"] if pattern == "write-write-read" else []
        label = {"pattern": pattern}
        cells.append(Cell(label, label, ({"status": "ok", "raw": evidence},), {"exchange_ms": around(mean, mean / 10)}))
    return RunData(folder, "nagle_patterns", FACTS | {"published": published.nagle_patterns()}, tuple(cells))


def throughput_run(folder):
    (folder / "raw").mkdir()
    cells = []
    for name, tool, source in (("cubic", "iperf3", "iperf3-cubic.txt"), ("wget", "wget", "wget-100ms.err")):
        raw = f"raw/{name}-{tool}.txt"
        (folder / raw).write_text(f"$ {tool}\n{(DATA / 'tools/data' / source).read_text()}")
        label = {"congestion": name}
        cells.append(Cell(label, label, ({"status": "ok", "raw": [raw]},), {"mbit_per_s": around(90.0)}))
    return RunData(folder, "download", FACTS, tuple(cells))


def cures_run():
    cells = []
    for harm, cure, time in (("none", "none", 10.0), ("far", "none", 250.0), ("far", "cache", 20.0), ("far", "pool", 90.0)):
        label = {"harm": harm, "cure": cure}
        cells.append(Cell(label, label, ({"status": "ok"},), {TIME: around(time)}))
    return RunData(Path("c-cures"), "cures", FACTS, tuple(cells))


def accounted_run(folder):
    """At free CPU, with captures of one cell."""
    told = Told(folder)
    opened(told)
    told.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"?")
    told.say("web", "client", "PA", 501, 102, at=60.0, came=80.0, ports=(80, 40000), payload=b"!")
    captures = [
        {"file": each.main, "before": each.before, "host": each.host, "addresses": list(each.addresses), "packets": 6}
        for each in told.captures()
    ]
    cells = [
        Cell({"rtt": f"{rtt}ms"}, {"rtt_ms": float(rtt)}, (sample,), {TIME: around(2.0 * rtt, 0.0)})
        for rtt, sample in (
            (10, {"cell": {"rtt": "10ms"}, "status": "ok"}),
            (40, {"cell": {"rtt": "40ms"}, "status": "ok", "captures": captures}),
        )
    ]
    facts = FACTS | {"tdf": "inf", "cpu": "free", "source": "client_delay"}
    return RunData(folder, "client_delay", facts, tuple(cells))


def odd_run():
    """Names in several scripts, long words, a failed cell, too few numbers."""
    facts = FACTS | {"question": "czy 10 ms to dużo? 10 ミリ秒は長いですか? هل هذا كثير؟ " + "x" * 120, "topology": {}}
    label, broken = {"mode": "遅い " + "long-" * 20}, {"mode": "broken"}
    cells = (
        Cell(label, label, ({"status": "ok"},), {TIME: around(5.0, 0.0)}),
        Cell(broken, broken, ({"status": "failed", "error": "ab timed out: " + "/long/path" * 20},), {}),
    )
    return RunData(Path("d-odd"), "日本", facts, cells).judged([judged("inconclusive", "主張 " + "word-" * 30)])


def reproduction(folder):
    download = RunData(
        Path("download"), "download", {**FACTS, "published": published.download()},
        (Cell({"step": "before", "rate_up": "1Gbit"}, {}, ({"status": "ok"},), {"mib_per_s": around(114.0)}),),
    )  # fmt: skip
    claims = [predicted("mib_per_s", {"step": "before"}, expected=114, within=0.1).judge(download)]
    broken = replace(cures_run(), facts=FACTS | {"error": "MariaDB does not answer"})
    return Reproduction(folder, (law_run(), download.judged(claims), segments_run(folder), broken), 61.0, 99.0, 2)


def report_run(name):
    """Return a captured run with a network, as every report has one; its claims bear the names that were kept of them."""
    run = captured(name)
    return replace(run, facts=FACTS | run.facts, claims=tuple(replace(each, kind="") for each in run.claims))


def swept(folder, rtts, losses):
    """A sweep of delays and losses, in which the loss of a page costs more of its round trips."""
    cells = []
    for rtt in rtts:
        for loss in losses:
            label = {"rtt": f"{rtt}ms", "loss": f"{loss}%"}
            metrics = {TIME: around(0.001 + rtt * (4 + loss), 0.0), "lost_percent": around(10.0 * (loss > 2), 0.0)}
            cells.append(Cell(label, {"rtt_ms": float(rtt), "loss_percent": loss}, ({"status": "ok"},), metrics))
    return RunData(folder, "page", FACTS | {"tdf": "inf", "cpu": "free"}, tuple(cells))


def write_sweeps(own):
    few, many = (0, 20, 40, 60, 80), tuple(range(0, 210, 10))
    losses = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
    for name, rtts in (("sweep", few), ("sweep-many", many)):
        yield name, write_sweep(swept(own(name), rtts, losses), {}, "", "", [], [])
    run = swept(own("sweep-verdicts"), few, losses)
    verdicts = {cell.title: "supported" if cell.metrics[TIME].mean < 200 else "refuted" for cell in run.cells}
    aside = [{"cell": {"rtt": "5ms", "loss": "1%"}, "repetition": 1, "why": "the lab panicked"}]
    flips = ["met up to 40 ms of round trip at 1 % loss"]
    yield "sweep-verdicts", write_sweep(run, verdicts, f"{TIME}<200", TIME, flips, aside)


def seen(title, faults, clients=8, wrong=True):
    """Records of clients of a server while something was broken."""
    second = 10**9
    events = [
        event
        for client in range(clients)
        for at in range(12)
        for event in (
            Event(at * second + client * second // 9, client, "invoke", "put", at),
            Event(at * second + client * second // 9 + second // 3, client, "ok" if at % 3 else "info", "put", at),
        )
    ]
    violations = [Violation("clients are served within 15 s", "a client was not served again", 3 * second)] if wrong else []
    logs = [
        LogLine(second // 2, "redis-db", "Ready to accept connections"),
        LogLine(4 * second, "redis-db", "Loaded " + "x" * 90),
    ]
    events.sort(key=lambda event: event.time)
    return Drawn(title, Faults.parse(faults), History(tuple(events)), violations, logs if wrong else ())


def write_hunts(folder):
    smallest = seen("The smallest schedule that breaks it", "cut client from server at 2.5 s; heal at 3.5 s")
    first = seen(
        "The schedule that broke it first",
        "kill server at 1 s; cut client from server at 2 s; start server at 4 s; heal at 5 s",
    )
    calm = seen("Without any fault", "none", 35, wrong=False)
    tried = [("cut client from server", (3, 4, 0, 1)), ("kill server", (9, 1, 0, 2))]
    parts = ["0-2.5 s", "2.5-5 s", "5-7.5 s", "7.5-10 s"]
    facts = [("experiment", "/home/somebody/retries.py"), ("seed", "1"), ("examples", "25")]
    for name, drawn in (("hunt", [smallest]), ("hunt-two", [smallest, first]), ("hunt-nothing", [calm])):
        write_hunt(folder / f"{name}.html", "retries", "Is each client served again?", "It breaks.", drawn, tried, parts, facts)


def write_field(own):
    pages = tuple(Page(float(at), 20.0 + at, 40.0, 25.0, 95.0 + 2 * at, 200, "OK", None, 1000) for at in range(20))
    return field_page.write(Field({"url": "https://shop.example/", "requests": 20}, pages), own("field"))


def marks_page():
    """Return the page of a class: long names, names with markup, missing answers, a file that is not TOML."""
    found = key.read(DATA.parents[1] / "examples/exercises/teacher/key.toml")
    with tempfile.TemporaryDirectory() as made:
        names = ("Ada Lovelace", "Bob <b>", "Maximiliane von der Wiesenthal zu Hohenburg-Altenstein", "遅い")
        for at, name in enumerate(names * 8):
            answers = "".join(
                f"\n[{each.name}]\n" + "".join(
                    f"{one.name} = {one.measured * (1 + number % 2)}\n" for one in each.solutions if (at + number) % 5
                )
                for number, each in enumerate(found)
            )  # fmt: skip
            Path(made, f"{at}.toml").write_text(f'student = "{name}"\nid = "s{at}"\n{answers}')
        Path(made, "not-toml.toml").write_text("x = = 3")
        return marks.render(class_marks.mark(sorted(Path(made).glob("*.toml")), found))


def write_all(folder):
    def own(name):
        (folder / name).mkdir()
        return folder / name

    runs = {
        "law": [law_run()], "latency": [latency_run()], "segments": [segments_run(own("segments"))],
        "throughput": [throughput_run(own("throughput"))], "cures": [cures_run()], "odd": [odd_run()],
        "accounted": [accounted_run(own("accounted"))],
        "side": [law_run(), law_run(5.0, "b-client_delay", (0, 10, 40))],
    }  # fmt: skip
    for name, shown in runs.items():
        write_page(folder / f"{name}.html", [view(run) for run in shown])
    for name in RUNS:
        write_page(folder / f"report-{name.replace('/', '-')}.html", [view(report_run(name))])
    for name, path in (*write_sweeps(own), ("field", write_field(own))):
        shutil.copy(path, folder / f"{name}.html")
    write_hunts(folder)
    first, second = law_run(), law_run(5.0, "b-client_delay", (0, 10, 40))
    found = compare(first, second, None)
    head, rows, notes = lines(found)
    table = Differences("b against a", str(found.outcome), head, rows, notes)
    write_page(folder / "compare.html", [view(first), view(second)], [table])
    for name, account in (("why", accounts.page()), ("why-repeated", accounts.repeated()), ("why-mixed", accounts.mixed())):
        write_why(folder / f"{name}.html", "20260101-120000-shop", account, {("db", "web"): ["db-switch", "web-switch"]})
    write_difference(folder / "why-two.html", ("a", "b"), difference(accounts.repeated(3), accounts.page()))
    (folder / "marks.html").write_text(marks_page(), "utf-8")
    (folder / "reproduce.html").write_text(render(reproduction(own("reproduce"))), "utf-8")
    return folder
