"""The caller's own load generators in a lab: those on PATH, whatever their names there."""

import os


def test_the_programs_on_the_path_are_seen_in_the_lab(execute, tmp_path, monkeypatch):
    mine, path = tmp_path / "built here", tmp_path / "bin"
    mine.mkdir()
    path.mkdir()
    (mine / "wrk").write_text('#!/bin/sh\necho "$0 $*"\n')
    (mine / "wrk").chmod(0o755)
    (path / "wrk2").symlink_to(mine / "wrk")
    monkeypatch.setenv("PATH", f"{path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("SLOWNET_WRK2", raising=False)
    monkeypatch.setenv("SLOWNET_OHA", str(mine / "none"))
    asked = "from slownet.lab.run import load_generators as found; from slownet.tools import steady; "
    asked += "print(found.path('wrk2'), found.path('oha'), steady.there())"
    done = execute("sh", "-c", f'python -c "{asked}"; "$SLOWNET_WRK2" -R10')
    there, said = done.stdout.decode().splitlines()
    assert there == "/opt/slownet/brought/wrk2/wrk None ['constant_rate', 'wrk2']"
    assert said == "/opt/slownet/brought/wrk2/wrk -R10"
    assert execute("touch", "/opt/slownet/brought/wrk2/mine").returncode == 1
    assert not (mine / "mine").exists()
