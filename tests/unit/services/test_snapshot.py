"""The data of services in a snapshot, with a small server on this machine."""

import os

import pytest
from test_service import Greeter

from slownet.model.errors import ServiceError
from slownet.services import snapshot


class Counter(Greeter):
    durable = ("data",)

    def prepare(self):
        (self.state / "data").mkdir(exist_ok=True)
        with open(self.state / "data" / "starts", "a") as starts:
            starts.write("x")
        (self.state / "other").touch()


def start(directory, number=1):
    services = [Counter(directory / str(each)) for each in range(number)]
    for each in services:
        each.start()
    return services


def test_data_is_saved_by_the_service_that_stops_and_there_before_the_next_prepares(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    with snapshot.setting_up(kept, saves=True):
        first, second = start(tmp_path, 2)
    (second.state / "data" / "starts").write_text("second ")
    with open(first.state / "data" / "hole", "wb") as hole:
        hole.truncate(1 << 24)
    for each in (second, first):
        each.stop()
    assert sorted(each.name for each in kept.iterdir()) == ["greeter-here-2.tar", "greeter-here.tar"]
    assert (kept / "greeter-here.tar").stat().st_size < 1 << 16

    for _ in range(2):
        with snapshot.setting_up(kept, saves=False):
            first, second = start(tmp_path, 2)
        later = start(tmp_path / "later")[0]  # as a cell would, after the set-up
        try:
            assert (first.restored, second.restored, later.restored) == (True, True, False)
            assert [(each.state / "data" / "starts").read_text() for each in (first, second)] == ["xx", "second x"]
            assert os.stat(first.state / "data" / "hole").st_blocks == 0
        finally:
            for each in (first, second, later):
                each.stop()
    assert sorted(each.name for each in kept.iterdir()) == ["greeter-here-2.tar", "greeter-here.tar"]


def test_a_snapshot_that_cannot_be_written_says_so(tmp_path):
    with snapshot.setting_up(tmp_path / "gone", saves=True):
        (service,) = start(tmp_path)
    with pytest.raises(ServiceError, match=r"the snapshot of greeter-here failed: .*No such file"):
        service.stop()
    assert not service.running
