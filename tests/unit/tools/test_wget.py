"""wget's parser on output from a lab (wget 1.25.0, a file of 262,144,000 bytes)."""

from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.tools.wget import MIB, parse, wget

DATA = Path(__file__).parent / "data"
SIZE = 262_144_000


def text(name: str) -> str:
    return (DATA / name).read_text()


@pytest.mark.parametrize(
    ("name", "reported"), [("wget-none.err", 287 * MIB), ("wget-100ms.err", 11.8 * MIB), ("wget-rate.err", 2.28 * MIB)]
)
def test_a_download(name: str, reported: float):
    record = parse(text(name), ["wget", "u"])
    assert (record.size, record.reported, len(record.rows)) == (SIZE, pytest.approx(reported), 83)
    assert record.command == ("wget", "u")
    assert record.raw == text(name)


def test_rows_are_in_bytes_per_second():
    record = parse(text("wget-100ms.err"))
    assert record.rows[:4] == pytest.approx([3.73 * MIB, 14.8 * MIB, 10.0 * MIB, 14.9 * MIB])


def test_metrics_rest_on_the_clock_and_on_the_rows():
    found = parse(text("wget-100ms.err"), seconds=21.466).metrics()
    assert found["seconds"]["mean"] == pytest.approx(21.466)
    assert found["mib_per_s"]["mean"] == pytest.approx(250 / 21.466)
    assert found["mib_per_s"]["n"] == found["seconds"]["n"] == 83
    assert 0 < found["mib_per_s"]["sd"] < found["mib_per_s"]["mean"]
    assert found["peak_mib_per_s"]["mean"] == pytest.approx(max(parse(text("wget-100ms.err")).rows) / MIB)


def test_a_steady_link_has_hardly_any_deviation():
    found = parse(text("wget-rate.err")).metrics()["mib_per_s"]
    assert found["sd"] < 0.02 * found["mean"]


def test_a_rate_that_is_no_number_is_no_row():
    whole = text("wget-100ms.err")
    assert parse(whole.replace(" 3.73M", " 3.7.3M")).rows[0] == parse(whole).rows[1]


def test_a_download_that_took_no_time():
    printed = "2026-11-22 11:42:16 (--.- KB/s) - '/dev/null' saved [300/300]\n"
    assert parse(printed, seconds=0.5).rate == 600
    with pytest.raises(ToolError, match="measured no duration"):
        parse(printed)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("", "wget printed no line about the saved file; its last line: 'nothing'"),
        ("Geht nicht.\n\n", "its last line: 'Geht nicht.'"),
        (text("wget-100ms.err").replace("[262144000/", "[262143999/"), "wget saved 262143999 of 262144000 bytes"),
        (
            text("wget-100ms.err").replace("saved [262144000/", "saved [" + "9" * 5000 + "/"),
            "no line about the saved file",
        ),
        (text("wget-100ms.err").replace("(11.8 MB/s)", "(1.1.8 MB/s)"), "no line about the saved file"),
    ],
)
def test_unusable_output_is_an_error(printed: str, message: str):
    with pytest.raises(ToolError) as caught:
        parse(printed)
    assert message in str(caught.value)
    assert caught.value.raw == printed


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("wget-404.err", 8, "wget ended with status 8: 404: Not Found, host 'here', http://x/"),
        (
            "wget-refused.err",
            4,
            "wget ended with status 4: Connecting to 10.0.0.2:81... failed: Connection refused., host 'here', http://x/",
        ),
    ],
)
def test_wget_that_gets_no_file_says_why(name: str, status: int, message: str, canned):
    with pytest.raises(ToolError) as caught:
        wget(canned("", text(name), status), "http://x/")
    assert str(caught.value) == message
    assert caught.value.raw == text(name)


def test_the_command_of_wget(canned):
    host = canned("", text("wget-none.err"))
    assert wget(host, "http://x/f").size == SIZE
    assert host.argv == [["wget", "--progress=dot:mega", "--tries=1", "--read-timeout=0", "-O", "/dev/null", "http://x/f"]]
