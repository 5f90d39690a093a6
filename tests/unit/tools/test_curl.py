"""curl's parser on output from a lab (curl 8.14), and its commands."""

import json

import pytest

from slownet.model.errors import ToolError
from slownet.net.process import Host
from slownet.tools.curl import _argv, curl, key_log, parse

LINE = {
    "http_version": "3", "num_connects": 1, "size_download": 1000, "time_total": 0.224271, "time_starttransfer": 0.22423,
    "time_connect": 0.11202,
    "errormsg": None, "exitcode": 0, "scheme": "HTTPS", "url": "https://10.0.0.2/one", "response_code": 200,
}  # fmt: skip


def test_transfers_are_read_in_order():
    again = LINE | {"num_connects": 0, "time_total": 0.1, "http_version": "1.1"}
    found = parse(f"{json.dumps(LINE)}\n{json.dumps(again)}\n", ["curl", "u"])
    assert found.times_ms == pytest.approx((224.271, 100))
    assert (found.connections, found.versions, found.size) == (1, ("3", "1.1"), 2000)
    assert found.metrics()["time_ms"]["mean"] == pytest.approx(162.1355)
    assert found.metrics()["first_byte_ms"]["values"] == pytest.approx([224.23, 224.23])
    assert found.urls == ("https://10.0.0.2/one",) * 2
    assert found.connect_ms == pytest.approx(112.02)
    assert found.command == ("curl", "u")


@pytest.mark.parametrize("text", ["", "curl: (7) refused\n", '{"http_version": "2"}\n', "{broken\n"])
def test_output_that_is_not_understood_is_one_line(text):
    with pytest.raises(ToolError, match="curl printed") as caught:
        parse(text)
    assert caught.value.raw == text


def test_each_url_has_its_own_options_and_output():
    words = _argv(["--http1.1", "http://a/", "--next", "--http2", "https://b/"])
    common = words[2 : words.index("--http1.1")]
    assert words[:2] == ["curl", "--disable"]  # no configuration of the user's
    after = words[words.index("--next") + 1 :]
    assert after[: len(common)] == common
    assert after[len(common) :] == ["--http2", "https://b/", "--output", "/dev/null"]


def test_secrets_are_written_only_if_asked_for(tmp_path):
    assert key_log(None) == {}
    assert key_log(tmp_path / "keys") == {"SSLKEYLOGFILE": str(tmp_path / "keys")}


class Here(Host):
    name = "here"

    def popen(self, *args, **kwargs):
        import subprocess

        return subprocess.Popen(["sh", "-c", "echo 'curl: (6) Could not resolve host: x' >&2; exit 6"], **kwargs)


def test_a_request_that_fails_is_one_line():
    with pytest.raises(ToolError, match=r"^curl ended with status 6: curl: \(6\) Could not resolve host: x, host 'here'"):
        curl(Here(), ["http://x/"])
