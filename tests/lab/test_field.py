"""The field, where the service stands on one of the lab's own hosts: what `slownet field` sees there is what `ab` sees."""

import json
import sys

import pytest

from slownet.cli.app import main
from slownet.comparison import record
from slownet.comparison.compare import compare_field, round_trip
from slownet.comparison.row import EQUIVALENT, compared
from slownet.judge.records.result import gather
from slownet.net.tool import run
from slownet.services.wordpress import WordPress
from slownet.theory.stats import from_moments
from slownet.tools.ab import ab
from slownet.tools.fetch import fetch

RTTS = (0, 10, 40)
HERE = 25


@pytest.fixture(scope="module")
def site(net, tmp_path_factory):
    with WordPress(net, tmp_path_factory.mktemp("services")) as running:
        yield running


def field(net, url, root, *words, check=True):
    """`slownet field` on the client: what it printed, and the record that it wrote."""
    argv = [sys.executable, "-m", "slownet.cli", "field", url, "--runs", str(root), "--json", *words]
    done = run(net["client"], argv, check=check)
    if not done.stdout:
        return done, None
    printed = json.loads(done.stdout)
    return done, record.read(record.find(root / printed["directory"].rpartition("/")[2]))


@pytest.fixture(scope="module")
def lab_run(net, site):
    """What an experiment measures there, with `ab`."""
    samples = []
    for index, rtt in enumerate(RTTS):
        with net.link("client", "switch").set(rtt=f"{rtt}ms"):
            page = ab(net["client"], site.url, requests=30)
        verified = net.verified[-1].rtt_ms.min
        cell = {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "verified_rtt_ms": verified}
        known = {"experiment": "client_delay", "index": index, "status": "ok", "error": None}
        samples.append(cell | known | {"metrics": page.metrics(), "facts": page.facts()})
    return gather(samples, {"experiment": "client_delay"})


@pytest.fixture(scope="module")
def fetched(net, site):
    """The same by `fetch`, which measures the parts of a page's time."""
    samples = []
    for index, rtt in enumerate(RTTS):
        with net.link("client", "switch").set(rtt=f"{rtt}ms"):
            page = fetch(net["client"], site.url, requests=10)
        cell = {
            "cell": {"rtt": f"{rtt}ms"},
            "condition": {"rtt_ms": float(rtt)},
            "verified_rtt_ms": net.verified[-1].rtt_ms.min,
        }
        known = {"experiment": "parts", "index": index, "status": "ok", "error": None}
        samples.append(cell | known | {"metrics": page.metrics(), "facts": page.facts()})
    return gather(samples, {"experiment": "parts"})


@pytest.fixture(scope="module")
def there(net, site, tmp_path_factory):
    """The same page by `ab`, and by `slownet field`, at a round trip that the run has not seen; and that round trip."""
    with net.link("client", "switch").set(rtt=f"{HERE}ms"):
        verified = net.verified[-1].rtt_ms.min
        page = ab(net["client"], site.url, requests=30)
        _, found = field(net, site.url, tmp_path_factory.mktemp("field"), "--requests", "30", "--pause", "20ms")
    return page, found, verified


def test_the_connection_takes_the_links_round_trip(there):
    _, found, verified = there
    assert verified == pytest.approx(HERE, rel=0.01)
    assert round_trip(found).mean == pytest.approx(verified, rel=0.02)


def test_the_page_takes_as_long_as_ab_says(there):
    page, found, _ = there
    ours = found.run().cells[0].summary("time_per_request_ms")
    theirs = page.metrics()["time_per_request_ms"]
    row = compared("", "time_per_request_ms", from_moments(theirs["mean"], theirs["sd"], theirs["n"]), ours, 0.05)
    assert row.verdict == EQUIVALENT, row
    assert found.lengths == (page.document_length,) * 2


def test_the_runs_law_holds_in_the_field(lab_run, there):
    _, found, _ = there
    compared = compare_field(lab_run, found, 0.05)
    assert [row.verdict for row in compared.rows] == [EQUIVALENT, EQUIVALENT], compared.to_json()
    assert compared.law["field"]["k"]["mean"] == pytest.approx(compared.law["run"]["k"]["mean"], rel=0.05)


def test_a_cell_of_the_same_round_trip_is_found(net, site, lab_run, tmp_path):
    with net.link("client", "switch").set(rtt="40ms"):
        _, found = field(net, site.url, tmp_path, "--requests", "10", "--pause", "0ms")
    rows = {row.condition: row.verdict for row in compare_field(lab_run, found, 0.05).rows}
    assert rows["rtt 40ms"] == EQUIVALENT


def test_a_throttled_field_differs_from_the_lab(net, site, lab_run, tmp_path):
    with net.link("client", "switch").set(rtt="40ms", rate="1Mbit"):
        _, found = field(net, site.url, tmp_path, "--requests", "10", "--pause", "0ms")
    compared = compare_field(lab_run, found, 0.05)
    assert compared.status == 1
    assert compared.rows[0].difference.low > 100  # 52 kB at 1 Mbit/s take over 400 ms


def test_the_part_that_differs_is_named(net, site, fetched, there, tmp_path):
    _, found, _ = there
    alike = compare_field(fetched, found, 0.05)
    assert alike.status == 0, alike.to_json()
    assert [part.name for part in alike.parts] == ["connect", "first byte", "body"]
    assert sum(part.first.mean for part in alike.parts) == pytest.approx(alike.rows[0].first.mean, rel=0.01)
    with net.link("client", "switch").set(rtt=f"{HERE}ms", rate="1Mbit"):
        _, throttled = field(net, site.url, tmp_path, "--requests", "10", "--pause", "0ms")
    said = str(compare_field(fetched, throttled, 0.05).outcome)
    assert "; most in body, " in said, said


def test_what_cannot_be_reached_is_one_line(net, tmp_path):
    where = net["web"].IP()
    for url, said in (
        (f"http://{where}:81/", "refuses the connection"),
        ("http://10.255.255.1/", "cannot be reached"),
        ("http://nowhere.invalid/", "unknown host 'nowhere.invalid'"),
    ):
        done, _ = field(net, url, tmp_path, check=False)
        assert done.status == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_command_compares_what_was_written(net, site, lab_run, tmp_path, capsys):
    directory = tmp_path / "run"
    directory.mkdir()
    lines = [json.dumps(sample) for cell in lab_run.cells for sample in cell.samples]
    (directory / "samples.jsonl").write_text("".join(f"{line}\n" for line in lines))
    with net.link("client", "switch").set(rtt=f"{HERE}ms"):
        field(net, site.url, tmp_path / "runs", "--requests", "10", "--pause", "0ms")
    (path,) = (tmp_path / "runs").glob("*/field.json")
    with pytest.raises(SystemExit) as caught:
        main(["compare", str(directory), str(path)])
    out = capsys.readouterr().out
    assert caught.value.code == 0, out
    assert out.count("equivalent") == 3  # two rows and the outcome
    assert out.endswith("equal: all 2 comparisons are equivalent\n")
