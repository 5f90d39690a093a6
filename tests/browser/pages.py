"""The pages that the tests open: runs with every kind of picture, verdict and note, made of numbers that are given here."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import accounts

from slownet.judge.claim import law, predicted
from slownet.judge.records.cell import Cell
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.statement import TEXT
from slownet.report.account_section import write_difference, write_why
from slownet.report.html_page import write_page
from slownet.report.view import view
from slownet.reproductions.reproduction import Reproduction, render
from slownet.theory import published
from slownet.theory.stats import Summary
from slownet.waits.difference import difference

DATA = Path(__file__).parents[1] / "unit"
sys.path += [str(DATA), str(DATA / "waits")]
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
    "why-repeated", "why-mixed", "accounted",
)  # fmt: skip


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
    for name, account in (("why", accounts.page()), ("why-repeated", accounts.repeated()), ("why-mixed", accounts.mixed())):
        write_why(folder / f"{name}.html", "20260101-120000-shop", account, {("db", "web"): ["db-switch", "web-switch"]})
    write_difference(folder / "why-two.html", ("a", "b"), difference(accounts.repeated(3), accounts.page()))
    (folder / "reproduce.html").write_text(render(reproduction(own("reproduce"))), "utf-8")
    return folder
