"""`slownet field` with a real server on this machine, and `slownet compare` with its record."""

import json
import socket
from itertools import pairwise

import pytest
from pages import BODY, PEM

from slownet.cli.app import main
from slownet.comparison.record import read, values
from slownet.comparison.service_measurement import measure
from slownet.tools.web import address


def command(*words):
    with pytest.raises(SystemExit) as caught:
        main([*map(str, words)])
    return caught.value.code


def one_line(capsys):
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    return err


def record(root):
    (path,) = root.glob("*-field-localhost/field.json")
    return path


def test_it_pauses_between_requests_and_writes_a_record(web, tmp_path, capsys):
    assert (
        command("field", f"{web.url}/shop?item=a b#top", "--requests", 6, "--pause", "20ms", "--runs", tmp_path, "--json") == 0
    )
    printed = json.loads(capsys.readouterr().out)
    found = read(record(tmp_path))
    assert printed == found.to_json() | {"directory": str(record(tmp_path).parent)}
    assert [path for path, _, _ in web.seen] == ["/shop?item=a%20b"] * 6
    assert {headers["User-Agent"].split("/")[0] for _, headers, _ in web.seen} == {"slownet"}
    times = [at for _, _, at in web.seen]
    assert min(after - before for before, after in pairwise(times)) >= 0.019
    assert (found.error, found.lengths, found.facts["address"]) == (None, (len(BODY), len(BODY)), "127.0.0.1")
    for page in found.pages:
        assert page.connect_ms > 0
        assert page.connect_ms + page.waiting_ms <= page.total_ms
    metrics = found.metrics()
    mean = sum(values(found, "time_per_request_ms")) / 6
    assert metrics["time_per_request_ms"]["mean"] == pytest.approx(mean)
    assert metrics["requests_per_second"]["mean"] == pytest.approx(1000 / mean)


def test_the_table_is_for_people(web, tmp_path, capsys):
    assert command("field", f"{web.url}/", "--requests", 6, "--pause", "0ms", "--runs", tmp_path) == 0
    out = capsys.readouterr().out
    page = record(tmp_path).with_name("report.html")
    assert out.splitlines()[-1] == str(page)
    text = page.read_text("utf-8")
    assert f"What does {web.url}/ take from here?" in text
    assert "for the connection" in text
    assert "The parts of each request" in text
    for text in (
        f"{web.url}/ at 127.0.0.1",
        "6 requests, 0 ms apart",
        "connect_rtt_ms",
        "52,000 bytes",
        str(record(tmp_path).parent),
    ):
        assert text in out


def test_a_body_in_chunks_is_read_whole(web):
    assert measure(address.read(f"{web.url}/chunks"), 2, "0ms", "5s").lengths == (len(BODY), len(BODY))


def test_tls_is_timed_by_itself(secure_web, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(PEM))
    found = measure(address.read(f"{secure_web.url}/"), 3, "0ms", "5s")
    for page in found.pages:
        assert page.tls_ms > 0
        assert page.connect_ms + page.tls_ms + page.waiting_ms <= page.total_ms
    metrics = found.metrics()
    parts = [metrics[name]["mean"] for name in ("tls_ms", "time_without_tls_ms", "time_per_request_ms")]
    assert parts[0] + parts[1] == pytest.approx(parts[2])


def test_a_failing_service_gets_no_more_requests(web, tmp_path, capsys):
    assert command("field", f"{web.url}/tired", "--requests", 20, "--pause", "0ms", "--runs", tmp_path) == 1
    found = read(record(tmp_path))
    assert (len(found.pages), len(web.seen)) == (7, 8)
    assert found.error == f"{web.url}/tired answers 503 Service Unavailable"
    assert f"slownet: stopped after 7 of 20 requests: {found.error}\n" == capsys.readouterr().err


def test_an_interrupt_loses_nothing(web, tmp_path, capsys, monkeypatch):
    def interrupted(seconds):
        if len(web.seen) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("slownet.tools.web.page_requests.time.sleep", interrupted)
    assert command("field", f"{web.url}/", "--runs", tmp_path) == 130
    assert capsys.readouterr().err == "slownet: stopped after 2 of 20 requests: interrupted\n"
    assert (read(record(tmp_path)).error, len(read(record(tmp_path)).pages)) == ("interrupted", 2)


@pytest.mark.parametrize(
    ("path", "words", "said"),
    [
        ("/moved", (), "redirects to http://elsewhere.example/ (status 301): measure that URL"),
        ("/gone", (), "answers 404 Not Found"),
        ("/slow", ("--timeout", "100ms"), "takes longer than 100 ms, at 127.0.0.1"),
        ("/trickle", ("--timeout", "200ms"), "takes longer than 200 ms, at 127.0.0.1"),
        ("/short", (), "95 bytes of the page are missing"),
        ("/", ("--requests", "0"), "0 requests, --requests: give 1 to 1000"),
        ("/", ("--requests", "1001"), "field is not a load generator"),
        ("/", ("--pause", "5"), "duration '5' has no unit, --pause: write it like"),
        ("/", ("--timeout", "10"), "has no unit, --timeout: "),
        ("/", ("--timeout", "0ms"), "a timeout of 0"),
    ],
)
def test_what_cannot_be_measured_is_one_line(web, tmp_path, capsys, path, words, said):
    assert command("field", web.url + path, "--runs", tmp_path, *words) == 2
    assert said in one_line(capsys)
    assert len(web.seen) <= 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://nowhere.invalid/", "unknown host 'nowhere.invalid'"),
        ("localhost:80", "write it like http://localhost:80"),
        ("htp://localhost/", "did you mean 'http'?"),
        ("http:///page", "has no host"),
        ("http://localhost:99999/", "is not a URL"),
        ("http://me:secret@localhost/", "the URL contains a user name"),
    ],
)
def test_a_url_that_is_wrong(tmp_path, capsys, url, said):
    assert command("field", url, "--runs", tmp_path) == 2
    line = one_line(capsys)
    assert said in line
    assert "secret" not in line


def at(monkeypatch, web, *hosts):
    """Make localhost resolve to these addresses, in this order."""
    endpoints = [address.Endpoint(socket.AF_INET, (host, web.server_port)) for host in hosts]
    monkeypatch.setattr("slownet.tools.web.page_requests.resolve", lambda asked: endpoints)


def test_of_several_addresses_the_first_that_accepts_a_connection_is_measured(web, monkeypatch):
    at(monkeypatch, web, "127.0.0.2", "127.0.0.1")
    assert measure(address.read(f"{web.url}/"), 2, "0ms", "5s").facts["address"] == "127.0.0.1"


def test_after_an_address_of_an_unsupported_family_the_next_is_tried(web, monkeypatch):
    lacking = address.Endpoint(socket.AF_APPLETALK, ("::1", web.server_port))
    there = address.Endpoint(socket.AF_INET, ("127.0.0.1", web.server_port))
    monkeypatch.setattr("slownet.tools.web.page_requests.resolve", lambda asked: [lacking, there])
    assert measure(address.read(f"{web.url}/"), 2, "0ms", "5s").facts["address"] == "127.0.0.1"


@pytest.mark.parametrize("hosts", [("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.2"), ("127.0.0.1", "127.0.0.1")])
def test_after_an_error_on_a_connection_no_other_address_is_tried(web, tmp_path, capsys, monkeypatch, hosts):
    at(monkeypatch, web, *hosts)
    assert command("field", f"{web.url}/short", "--runs", tmp_path) == 2
    line = one_line(capsys)
    assert "95 bytes of the page are missing" in line
    assert "at 127.0.0.1" in line
    assert len(web.seen) == 1


def test_no_address_accepts_a_connection(web, tmp_path, capsys, monkeypatch):
    at(monkeypatch, web, "127.0.0.3", "127.0.0.2")
    assert command("field", f"{web.url}/", "--runs", tmp_path) == 2
    assert "refuses the connection, at 127.0.0.3: is the service running" in one_line(capsys)


def test_a_refused_connection_and_another_protocol(web, secure_web, tmp_path, capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert command("field", f"http://127.0.0.1:{free.getsockname()[1]}/", "--runs", tmp_path) == 2
    assert "refuses the connection, at 127.0.0.1: is the service running" in one_line(capsys)
    assert command("field", web.url.replace("http", "https"), "--runs", tmp_path) == 2
    assert "the TLS handshake with" in one_line(capsys)
    assert command("field", secure_web.url, "--runs", tmp_path) == 2
    assert "the certificate of localhost" in one_line(capsys)
    assert command("field", secure_web.url.replace("https", "http"), "--runs", tmp_path) == 2
    assert "localhost port" in one_line(capsys)


def test_a_field_against_itself_and_against_a_run(web, tmp_path, capsys):
    command("field", f"{web.url}/", "--requests", 8, "--pause", "0ms", "--runs", tmp_path)
    path = record(tmp_path)
    capsys.readouterr()
    command("compare", path, path.parent, "--within", 0.99, "--out", "json=-")
    found = json.loads(capsys.readouterr().out)
    assert {row["ratio"]["mean"] for row in found["rows"]} == {1.0}
    assert {"time_per_request_ms", "connect_rtt_ms"} <= {row["metric"] for row in found["rows"]}
    command("compare", path, path)
    assert "exact clock" not in capsys.readouterr().out, "no service in the field has one"
    run = tmp_path / "run"
    run.mkdir()
    samples = [
        {"experiment": "client_delay", "cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": rtt}, "index": rtt, "status": "ok"}
        | {"metrics": {"time_per_request_ms": {"mean": 2000.0 + 4 * rtt, "sd": 0.4, "n": 100}}, "verified_rtt_ms": rtt + 0.1}
        for rtt in (0, 10, 40)
    ]
    (run / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))
    assert command("compare", run, path) == 1
    out = capsys.readouterr().out
    assert "differs" in out
    assert "run: 4.000 (" in out
    assert command("compare", run, run) == 0
    assert command("compare", run, run, "--at", "rtt=10ms") == 0
    assert "rtt 40ms" not in capsys.readouterr().out.splitlines()[-1]
    assert command("compare", run / "run.json", run) == 0
    capsys.readouterr()
    for words, said in (
        ((path, run), "name the run first"),
        ((run, path, "--metric", "time_ms"), "a field measurement is compared by its page time only"),
        ((run, run, "--t0", "1ms"), "T0 applies to the field measurement"),
        ((run, run, "--within", "0"), "within is 0"),
        ((run, run, "--within", "5%"), "such as 0.05 for 5 %"),
        ((run, run, "--at", "rtt"), "write it like rtt=10ms"),
        ((run, run, "--at", "rtt=11ms"), "the cells are rtt 0ms; rtt 10ms; rtt 40ms"),
        ((run, tmp_path / "none"), "no run here"),
        ((run, tmp_path / "none.json"), "No such file"),
        ((run, run / "samples.jsonl"), "no run here"),
    ):
        assert command("compare", *words) == 2
        assert said in one_line(capsys)


@pytest.mark.parametrize(
    "text", ["{", "{}", '{"kind": "field", "pages": []}', '{"kind": "field", "pages": [{"a": 1}], "url": ""}']
)
def test_a_field_json_that_is_wrong(tmp_path, capsys, text):
    (tmp_path / "field.json").write_text(text)
    assert command("compare", tmp_path, tmp_path) == 2
    assert "name a field.json that `slownet field` wrote" in one_line(capsys)


def test_where_no_run_can_be_kept_nothing_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "slownet.comparison.service_measurement.measure",
        lambda *words, **named: pytest.fail("it was measured, and would be lost"),
    )
    (tmp_path / "runs").write_text("a file")
    assert command("field", "http://127.0.0.1/", "--runs", tmp_path / "runs" / "more") == 2
    assert one_line(capsys).startswith("slownet: cannot make a run directory, Not a directory, in ")
