"""Hosts for the tools' tests."""

import subprocess

import pytest


@pytest.fixture
def canned(tmp_path):
    """canned(out, err="", status=0) returns a host where every program prints these texts and ends with this status."""

    class Canned:
        name = "here"

        def __init__(self, out, err="", status=0):
            self.argv = []
            self.status = str(status)
            (tmp_path / "out").write_text(out)
            (tmp_path / "err").write_text(err)

        def IP(self):  # noqa: N802
            return "127.0.0.1"

        def popen(self, argv, **options):
            self.argv.append(argv)
            script = 'cat "$1"; cat "$2" >&2; exit "$3"'
            words = ["sh", "-c", script, "sh", str(tmp_path / "out"), str(tmp_path / "err"), self.status]
            return subprocess.Popen(words, start_new_session=True, **options)

    return Canned
