"""Tests of the figures: scales, latency by percentile, throughput over time, the network, files for papers."""

import importlib
import json
import os
import re
import shutil
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from slownet.judge.records.cell import Cell
from slownet.judge.records.result import RunData
from slownet.model.errors import SlownetError
from slownet.report import curves, scale, series
from slownet.report import figure as figures
from slownet.report.chart import CHARACTER, WIDTH, Chart, Point, clipped, text_width
from slownet.report.figure import Figure, written
from slownet.report.latency import latency_figures
from slownet.report.topology import topology_figure
from slownet.theory.stats import Summary
from slownet.tools import wget

DATA = Path(__file__).parents[1] / "tools/data"


def texts(svg):
    return [each.text for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")]


def said(svg):
    return re.findall(r'data-says="([^"]*)"', svg)


def test_scales_place_and_mark_numbers():
    assert scale.from_zero([10, 40]).at(0) == 0
    assert [text for _, text in scale.from_zero([10, 47]).ticks] == ["0", "10", "20", "30", "40"]
    far = scale.fitting([0.006, 43.5])
    assert isinstance(far, scale.Log)
    assert [text for _, text in far.ticks] == ["0.01", "0.1", "1", "10"]
    assert [text for _, text in scale.from_zero([4e-12]).ticks] == ["0", "1e-12", "2e-12", "3e-12", "4e-12"]
    assert [text for _, text in scale.from_zero([-5, -20]).ticks] == ["-20", "-15", "-10", "-5", "0"]
    assert scale.from_zero([-5, 20]).at(-5) > 0
    assert isinstance(scale.fitting([0.0, 43.5]), scale.Linear)  # 0 has no place on a logarithmic axis
    # Ends of intervals are inside, unless a decade and more below the numbers.
    wide = scale.fitting([2.0, 100.0], [0.1, 50.0, 180.0])
    assert wide == scale.Log(2.0 / 1.4, 180.0 * 1.4)
    assert scale.fitting([2.0, 3.0], [1.0, 5.0]).at(5.0) < 1
    assert [value for value, _ in scale.along([0, 1, 40, 120]).ticks] == [0, 40, 120]  # 1 would overlap 0


def test_each_further_nine_takes_the_same_room():
    axis = scale.Percentiles(99.99)
    assert [round(axis.at(each), 9) for each in (0, 90, 99, 99.9, 99.99)] == [0, 0.25, 0.5, 0.75, 1]
    assert [text for _, text in axis.ticks] == ["50", "90", "99", "99.9", "99.99"]


def test_texts_in_any_script_are_escaped_and_kept():
    chart = Chart("<a> & 日本", scale.from_zero([1]), scale.from_zero([1]), "x {1}", "y")
    chart.points([Point(0.5, 0.5, 'says {"x"} <b>')], "czy to dużo? {}")
    assert "czy to dużo? {}" in texts(chart.svg())
    assert said(chart.svg()) == ["says &#123;&quot;x&quot;&#125; &lt;b&gt;"]


def sample(corrected, uncorrected, boot):
    facts = {"corrected_spectrum": corrected, "uncorrected_spectrum": uncorrected}
    return {"status": "ok", "facts": facts, "boot": boot}


def loaded(*samples, metrics=()):
    label = {"tool": "own"}
    cells = [Cell(label, label, samples, {})]
    if metrics:
        other = {"tool": "wrk"}
        cells.append(
            Cell(other, other, ({"status": "ok"},), {name: Summary(value, value, value, 1) for name, value in metrics})
        )
    return RunData(Path("x"), "x", {}, tuple(cells))


LAST = (("99 %", 1.0, 0.001), ("99.5 %", 2.0, 2.0))  # the slowest of 100


def test_corrected_latency_stands_beside_uncorrected():
    slow, quick = [[0.001, 0.5, 50], [1.0, 0.99, 99], [2.0, 1.0, 100]], [[0.001, 0.99, 99], [2.0, 1.0, 100]]
    (found,) = latency_figures(loaded(sample(slow, quick, 1)))
    assert found.rows == (("50 %", 0.001, 0.001), ("75 %", 1.0, 0.001), ("90 %", 1.0, 0.001), *LAST)
    assert found.head == ("percentile", "corrected, s", "uncorrected, s")
    assert "75 % of requests: at most 1 s, corrected (from when it was due)" in said(found.svg)
    assert {"corrected: from when it was due", "uncorrected: from when it was sent", "99"} <= set(texts(found.svg))


def test_boots_are_pooled():
    first, second = [[0.001, 1.0, 100]], [[0.001, 0.5, 100], [5.0, 1.0, 200]]
    (found,) = latency_figures(loaded(sample(first, first, 1), sample(second, second, 2)))
    assert [row[1] for row in found.rows] == [0.001, 5.0, 5.0, 5.0, 5.0]
    assert found.rows[-1][0] == "99.8333 %"  # the slowest of 300


def test_percentiles_that_a_tool_printed_are_drawn_too():
    slow = [[0.001, 0.5, 50], [1.0, 1.0, 100]]
    run = loaded(sample(slow, slow, 1), metrics=[("uncorrected_p50_s", 0.01), ("uncorrected_p99_s", 0.02)])
    _, found = latency_figures(run)
    assert found.head == ("percentile", "uncorrected, s")
    assert found.rows[-1] == ("99 %", 0.02)
    assert latency_figures(RunData(Path("x"), "x", {}, run.cells[1:])) == []  # nothing to correct


def transfers(directory, **files):
    (directory / "raw").mkdir()
    cells = []
    for name, (source, ending) in files.items():
        raw = f"raw/{name}-{ending}.txt"
        text = (DATA / source).read_text()
        (directory / raw).write_text(text if text.startswith("$ ") else f"$ {ending}\n{text}")
        cells.append(Cell({"congestion": name}, {}, ({"status": "ok", "raw": [raw]},), {}))
    return RunData(directory, "x", {}, tuple(cells))


def test_throughput_over_time_from_iperf3_and_wget(tmp_path):
    run = transfers(tmp_path, cubic=("iperf3-cubic.txt", "iperf3"), other=("wget-100ms.err", "wget"))
    (found,) = series.of_run(run)
    assert found.head == ("cell", "until, s", "Mbit/s")
    assert {row[0] for row in found.rows} == {"cubic", "other"}
    for name in ("cubic", "other"):
        times = [row[1] for row in found.rows if row[0] == name]
        assert times == sorted(times)
        assert times[0] > 0
    (tmp_path / "raw/cubic-iperf3.txt").write_text("$ iperf3\ntorn")
    assert {row[0] for each in series.of_run(run) for row in each.rows} == {"other"}
    shutil.rmtree(tmp_path / "raw")
    assert series.of_run(run) == []


def test_the_senders_window_over_time(tmp_path):
    throughput, window = series.of_run(transfers(tmp_path, bbr=("iperf3-window.txt", "iperf3")))
    assert throughput.head[-1] == "Mbit/s"
    assert [(row[0], round(row[1]), row[2]) for row in window.rows] == [("bbr", 1, 1.12 * 1024), ("bbr", 2, 1.12 * 1024)]
    assert said(window.svg)[0] == "bbr: 1150 KiB until 1 s"


def test_the_fullest_queue_over_time(tmp_path):
    run = transfers(tmp_path, bbr=("iperf3-window.txt", "iperf3"))
    waited = {"seconds": [0.0, 0.5, 1.0], "queued_bytes": {"a-eth0": [0, 0, 66], "b-eth0": [0, 2048, 1024]}, "in_flight": []}
    (tmp_path / "raw/bbr-queue.json").write_text(json.dumps(waited))
    (cell,) = run.cells
    cell.samples[0]["raw"].append("raw/bbr-queue.json")
    *_, queue = series.of_run(run)
    assert (queue.title, queue.rows) == ("Queue over time", (("bbr", 0.5, 2.0), ("bbr", 1.0, 1.0)))
    assert "backlog" in queue.note
    for torn in ("{", "{}", "[]", '{"seconds": [], "queued_bytes": {}}'):
        (tmp_path / "raw/bbr-queue.json").write_text(torn)
        assert [each.name for each in series.of_run(run)] == ["throughput-1", "window-1"]


def test_a_burst_from_the_socket_is_no_rate(tmp_path):
    run = transfers(tmp_path, other=("wget-100ms.err", "wget"))
    (found,) = series.of_run(run)
    rates = [row[2] for row in found.rows]
    ends = [0.0, *(row[1] for row in found.rows)]
    carried = sum(rate * (after - before) for rate, before, after in zip(rates, ends, ends[1:], strict=False))
    assert carried * 1e6 / 8 == pytest.approx(83 * wget.ROW_BYTES, rel=0.02)


NETWORK = {"hosts": ["client", "web", "db"], "switches": ["switch"]}
NETWORK |= {"links": {"client-switch": ["client", "switch"], "web-switch": ["web", "switch"], "db-switch": ["db", "switch"]}}


def measured(*links, topology=NETWORK):
    cells = [Cell({"rtt": str(n)}, {}, ({"status": "ok", "links": each},), {}) for n, each in enumerate(links)]
    return RunData(Path("x"), "x", {"topology": topology}, tuple(cells))


def test_the_network_is_drawn_with_each_links_condition_and_the_varied_one_marked():
    fixed = {"db-switch": "2 Mbit"}
    run = measured(fixed, fixed | {"client-switch": "+10 ms RTT"}, fixed | {"client-switch": "+40 ms RTT"})
    found = topology_figure(run)
    assert {"client", "web", "db", "switch", "none to +40 ms RTT", "2 Mbit"} == set(texts(found.svg))
    assert found.svg.count('class="link varied"') == 1
    assert found.svg.count('class="link"') == 2
    assert [row for row in found.rows if row[0] == "client-switch"] == [
        ("client-switch", each, "varied") for each in ("no condition", "+10 ms RTT", "+40 ms RTT")
    ]
    assert ("web-switch", "no condition", "") in found.rows


def test_a_direction_is_named_by_its_ends():
    found = topology_figure(measured({"client-switch": "loses 2 % down, 2 Mbit up"}, {"db-switch": "seed 1"}))
    assert found.rows[0] == (
        "client-switch",
        "loses 2 % from switch to client, 2 Mbit from client to switch",
        "varied",
    )


def test_links_have_the_round_trips_of_an_operation_where_nothing_else_stands():
    run = measured({"client-switch": "+10 ms RTT"})
    found = topology_figure(run, {"client-switch": 4.0, "db-switch": 26.5, "web-switch": 0.0, "elsewhere": 3.0}, "rtt 10ms")
    assert {"4 RTT", "26.5 RTT"} == {each for each in texts(found.svg) if each.endswith(" RTT") and not each.startswith("+")}
    assert found.note == "On each link: the round trips (RTT) that an operation at rtt 10ms waits for."
    labels = [tuple(map(float, each)) for each in re.findall(r'class="[^"]*label" x="([\d.]+)" y="([\d.]+)"', found.svg)]
    assert len(labels) == 3
    assert all(abs(one[0] - other[0]) > 40 or abs(one[1] - other[1]) > 12 for one in labels for other in labels if one != other)


def law_of(k, half=0.01):
    """What the drawing asks of a law: its slope."""
    return SimpleNamespace(k=Summary(k, k - half, k + half, 9))


@pytest.mark.parametrize(
    ("law", "far", "shown"),
    [
        (law_of(3.998), {"client-switch": "+40 ms RTT"}, ["4 RTT"]),
        (law_of(26.53), {"client-switch": "+40 ms RTT"}, ["26.5 RTT"]),
        (law_of(4.0, half=3.0), {"client-switch": "+40 ms RTT"}, []),  # a slope that is hardly known
        (law_of(4.0), {"client-switch": "2 Mbit"}, []),  # another condition
        (law_of(4.0), {"client-switch": "+40 ms RTT", "db-switch": "+40 ms RTT"}, []),  # of which link?
        (None, {"client-switch": "+40 ms RTT"}, []),
    ],
)
def test_the_varied_link_has_the_laws_round_trips_without_captures(law, far, shown):
    run = measured({}, {"client-switch": "+10 ms RTT"} if "RTT" in far["client-switch"] else {}, far)
    found = topology_figure(run, law=law)
    assert [each for each in texts(found.svg) if re.fullmatch(r"[\d.]+ RTT", each)] == shown
    assert ("Its round trips (RTT) per operation are the law's" in found.note) == bool(shown)
    assert topology_figure(run, {"web-switch": 2.0}, "rtt 0ms", law).note.startswith(
        "On each link: "
    )  # counted ones come first


SHAPES = {
    "row": ["a-b", "b-c", "c-d", "d-e"],
    "star": [f"client{number}-switch" for number in range(1, 4)] + ["web-switch", "db-switch"],
    "three": ["client-switch", "web-switch", "db-switch"],
    "dumbbell": ["a1-s1", "a2-s1", "a3-s1", "s1-s2", "b1-s2", "b2-s2", "b3-s2"],
    "middle": ["client-s1", "s1-s2", "s2-s3", "server-s3", "cache-s2", "log-s2"],
    "two": ["client-server"],
    "ring": ["a-b", "b-c", "c-a", "x-a", "y-b", "z-c"],
    "arc": ["a-b", "b-c", "c-d", "a-c", "c-e"],
}


LABELLED = [(shape, says) for shape in SHAPES for says in ("+40 ms RTT", "+40 ms RTT, 10 Mbit", "1 % loss")]
LABELLED.remove(("arc", "+40 ms RTT, 10 Mbit"))  # where nothing is free a label lies on a cable, which breaks below it


@pytest.mark.parametrize(("shape", "says"), LABELLED)
def test_labels_of_a_network_lie_on_no_cable_and_on_nothing_else(shape, says):
    links = {name: name.split("-") for name in SHAPES[shape]}
    names = sorted({end for ends in links.values() for end in ends})
    network = {"hosts": names, "switches": [], "links": links}
    first, *_, last = links if len(links) > 1 else [*links, *links]
    svg = topology_figure(measured({first: says, last: says}, topology=network), dict.fromkeys(links, 4.0)).svg
    lines = [curve(path) for path in re.findall(r'class="link[^"]*" d="([^"]+)"', svg)]
    boxes = [
        [float(x), float(y), float(x) + float(wide), float(y) + float(high)]
        for x, y, wide, high in re.findall(r'"node" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="(\d+)"', svg)
    ]
    labels = []
    for x, y, anchor, text in re.findall(r'label" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]+)', svg):
        left = float(x) - text_width(text) * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        labels.append([left, float(y) - 8, left + text_width(text), float(y) + 2])
    assert (len(labels), len(lines), len(boxes)) == (len(links) + len({first, last}), len(links), len(names))
    for number, (left, top, right, bottom) in enumerate(labels):
        assert 0 <= left < right <= WIDTH
        assert top >= 0
        for line in lines:
            assert not any(left < x < right and top < y < bottom for x, y in line)
        for other in [*boxes, *labels[:number]]:
            assert left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]


def curve(path):
    """The points of a path, `M x y L x y` or `M x y Q x y x y`, a hundredth of it apart."""
    numbers = list(map(float, re.findall(r"-?[\d.]+", path)))
    (x1, y1), *bend, (x2, y2) = zip(numbers[::2], numbers[1::2], strict=True)
    cx, cy = bend[0] if bend else ((x1 + x2) / 2, (y1 + y2) / 2)
    parts = [number / 100 for number in range(101)]
    return [
        ((1 - t) ** 2 * x1 + 2 * t * (1 - t) * cx + t * t * x2, (1 - t) ** 2 * y1 + 2 * t * (1 - t) * cy + t * t * y2)
        for t in parts
    ]


def test_many_hosts_share_a_box_and_an_older_run_has_no_drawing():
    names = [f"client{number}" for number in range(1, 1022)]
    links = {f"{name}-switch": [name, "switch"] for name in names} | {"server-switch": ["server", "switch"]}
    star = {"hosts": ["server", *names], "switches": ["switch"], "links": links}
    found = topology_figure(measured({"server-switch": "+10 ms RTT"}, topology=star))
    assert {"client5", "client6 and 1015 more", "server", "+10 ms RTT"} <= set(texts(found.svg))
    assert len(found.svg) < 5000
    assert topology_figure(RunData(Path("x"), "x", {}, ())) is None


@pytest.mark.parametrize("links", [
    {"a-b": ["a", "b"]},
    {"a-b": ["a", "b"], "b-c": ["b", "c"], "c-a": ["c", "a"]},
    {"a-b": ["a", "b"], "c-d": ["c", "d"]},
    {"a-b": ["a", "b"], "b-c": ["b", "c"], "c-d": ["c", "d"], "d-e": ["d", "e"], "e-f": ["e", "f"], "f-g": ["f", "g"]},
    {"a-b": ["a", "b"], "b-c": ["b", "c"], "c-a": ["c", "a"], "x-a": ["x", "a"], "y-b": ["y", "b"], "z-c": ["z", "c"]},
    {"a-b": ["a", "b"], "b-c": ["b", "c"], "c-d": ["c", "d"], "c-e": ["c", "e"], "d-f": ["d", "f"]},
])  # fmt: skip
def test_any_network_can_be_drawn(links):
    names = sorted({end for ends in links.values() for end in ends})
    found = topology_figure(measured({}, topology={"hosts": names, "switches": [], "links": links}))
    assert set(texts(found.svg)) == set(names)
    boxes = re.findall(r'<rect class="node" x="([\d.]+)" y="([\d.]+)"', found.svg)
    assert len(set(boxes)) == len(names)  # no two at one place


def picture():
    chart = Chart("a line", scale.from_zero([1]), scale.from_zero([1]), "x", "y")
    chart.points([Point(0.5, 0.5, "here", 0.4, 0.6)], "measured")
    return Figure("line", "A line", chart.svg(), ("x",), ((0.5,),))


def test_a_figure_alone_is_svg_with_its_own_style_in_light_colours(tmp_path):
    (path,) = written([("x-line", picture())], tmp_path / "new", "svg")
    assert path.name == "x-line.svg"
    root = ElementTree.fromstring(path.read_text())
    assert "var(" not in path.read_text()
    assert [each.text for each in root if each.tag.endswith("title")] == ["a line"]
    assert "#1b5fb8" in path.read_text()


@pytest.mark.skipif(not any(folder.is_dir() and any(folder.rglob("*.[ot]tf")) for folder in figures.FONTS), reason="no font")
def test_a_figure_alone_is_a_png(tmp_path):
    (path,) = written([("x-line", picture())], tmp_path, "png")
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (1408, 1088)


def cairo_is_missing():
    """Return whether what makes PDFs is not installed; in CI it is."""
    try:
        importlib.import_module("cairosvg")
    except (ImportError, OSError):
        return True
    return False


@pytest.mark.skipif(cairo_is_missing(), reason="no CairoSVG or libcairo2")
@pytest.mark.skipif(not any(folder.is_dir() and any(folder.rglob("*.[ot]tf")) for folder in figures.FONTS), reason="no font")
def test_a_figure_alone_is_a_pdf_and_its_halos_cover_no_text(tmp_path):
    """CairoSVG draws a stroke over its text: each text on a halo comes again without it."""
    (path,) = written([("x-line", picture())], tmp_path, "pdf")
    assert path.read_bytes().startswith(b"%PDF-")
    halo = '<text class="small" x="1">here</text>'
    twice = figures.over_its_halo(f'<svg>{halo}<text x="2">8</text></svg>')
    assert [each.attrib for each in ElementTree.fromstring(twice)] == [
        {"class": "small", "x": "1"},
        {"style": "stroke:none", "class": "small", "x": "1"},
        {"x": "2"},
    ]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ImportError(), "CairoSVG, which makes PDFs, is not installed: python -m pip install 'cairosvg>=2.7'"),
        (OSError(), "Cairo, which makes PDFs, is not installed: apt-get install libcairo2"),
    ],
)
def test_without_what_makes_pdfs_the_line_says_what_to_install(tmp_path, monkeypatch, error, says):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "cairosvg":
                raise error

    (tmp_path / "a.ttf").touch()
    monkeypatch.setattr(figures, "FONTS", (tmp_path,))
    monkeypatch.delitem(sys.modules, "cairosvg", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(SlownetError) as caught:
        written([("x", picture())], tmp_path, "pdf")
    assert str(caught.value) == says


def test_without_fonts_or_a_folder_a_file_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "FONTS", (tmp_path,))
    with pytest.raises(SlownetError, match=r"^no font for the text of a PNG, on this machine: apt-get install fonts"):
        written([("x", picture())], tmp_path, "png")
    (tmp_path / "file").touch()
    with pytest.raises(SlownetError, match=r"^cannot write figures, .*file"):
        written([("x", picture())], tmp_path / "file", "svg")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("../../out", "_.._out.svg"), ("/etc/x", "_etc_x.svg"), ("..", "figure.svg"), (".hidden", "hidden.svg"),
        ("a\0b\nc\x1b", "a_b_c_.svg"), ("czas-40ms", "czas-40ms.svg"), ("", "figure.svg"), ("x" * 300, "x" * 120 + ".svg"),
    ],
)  # fmt: skip
def test_figures_stay_in_their_folder_whatever_they_are_called(name, file, tmp_path):
    figure = Figure("time", "Time", Chart("Time", scale.from_zero([1]), scale.from_zero([1]), "x", "y").svg(), (), ())
    folder = tmp_path / "deep" / "figures"
    paths = written([(name, figure), (name, figure)], folder, "svg")
    assert paths == [folder / file, folder / file.replace(".svg", "-2.svg")]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(paths)


def test_figures_replace_planted_links_and_refuse_planted_folders(tmp_path):
    figure = Figure("time", "Time", Chart("Time", scale.from_zero([1]), scale.from_zero([1]), "x", "y").svg(), (), ())
    folder, outside = tmp_path / "figures", tmp_path / "outside"
    folder.mkdir()
    outside.write_text("mine")
    (folder / "run-time.svg").symlink_to(outside)
    (folder / "run-new.svg").symlink_to(tmp_path / "made")
    os.mkfifo(folder / "run-fifo.svg")
    found = written([(f"run-{name}", figure) for name in ("time", "new", "fifo")], folder, "svg")
    assert all(path.is_file() and not path.is_symlink() for path in found)
    assert (outside.read_text(), (tmp_path / "made").exists()) == ("mine", False)
    (folder / "run-time.svg").unlink()
    (folder / "run-time.svg").mkdir()
    with pytest.raises(SlownetError, match=r"^cannot write figures, "):
        written([("run-time", figure)], folder, "svg")


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("server", 100, "server"),
        ("", 0, ""),
        ("a long name", 4.5 * CHARACTER, "a l\u2026"),
        ("漢字", 2.5 * CHARACTER, "\u2026"),
    ],
)
def test_a_text_is_clipped_to_its_width(text, width, shown):
    assert clipped(text, width) == shown
    assert text_width(shown) <= max(width, CHARACTER)


def test_a_text_of_any_length_is_clipped():
    """A link that plays a recording says each of its steps; taking them off one by one took a quarter of an hour."""
    assert clipped("delay 1ms then " * 200_000, 165.0) == clipped("delay 1ms then " * 20, 165.0)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (100000, "100000"), (1000000, "1e6"), (2.5e9, "2.5e9"), (-100000, "-1e5"), (0.0001, "0.0001"), (-0.0002, "-0.0002"),
        (1e-12, "1e-12"), (0, "0"),
    ],
)  # fmt: skip
def test_a_tick_that_has_no_room_is_written_by_a_power(value, written):
    ((at, text), *_) = scale.Linear(0, 1, (value,)).ticks
    assert scale.narrow(at, text) == written


def test_a_chart_does_not_cut_its_ticks():
    drawn = Chart("bytes", scale.from_zero([1]), scale.from_zero([4e6]), "x", "bytes").svg()
    assert ">4e6</text>" in drawn
    assert "000000" not in drawn


def test_dots_of_negative_numbers_are_drawn():
    rows = [curves.Dot(str(mean), Summary(mean, mean, mean, 1), "") for mean in (-5.0, -20.0)]
    drawn = curves.dots("a difference", rows, "ms", "measured")
    assert ">-20</text>" in drawn
