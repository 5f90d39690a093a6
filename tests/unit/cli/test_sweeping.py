"""What a sweep that ends early says."""

from contextlib import suppress

import pytest

from slownet.cli.app import main
from slownet.cli.sweep import Follower


def interrupted(folder, saved):
    with suppress(KeyboardInterrupt), Follower(folder) as follow:
        follow("planned", {"cells": 12, "known": 0})
        follow("ended", {"saved": saved})  # an interrupt came after the samples were on disk: nobody was told "measured"
        raise KeyboardInterrupt


def test_what_is_on_disk_counts_although_nobody_was_told(tmp_path, capsys):
    interrupted(tmp_path, 4)
    assert f"4 of 12 samples are saved. Continue with: slownet sweep --out {tmp_path} --resume" in capsys.readouterr().err


@pytest.mark.parametrize("saved", [0, 12])
def test_nothing_is_said_of_none_or_all(tmp_path, capsys, saved):
    interrupted(tmp_path, saved)
    assert "saved" not in capsys.readouterr().err


def test_a_folder_without_a_sweep_cannot_be_resumed(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "--resume", "--out", str(tmp_path)])
    assert ended.value.code == 2
    said = f"slownet: {tmp_path} contains no sweep, --resume: name a folder with a sweep.json, or an experiment\n"
    assert capsys.readouterr().err == said
