"""Disks of a server's own: what survives a power loss, and what a full, slow or failing disk is to the programs on it."""

import os
import time
from pathlib import Path

import pytest

from slownet import Redis, ServiceError
from slownet.lab.host import native
from slownet.services.postgresql import PostgreSQL

REFUSED = "Input/output error|Read-only file system"
WRITTEN_BACK_S = 60
"""The kernel writes back after 30 s what nobody synced, and looks for it every 5 s."""
LATE_S = 0.02 if native.cpu_is_free() else 0.2
LOGGED = ("--appendonly", "yes", "--appendfsync")


def redis_on_disk(net, tmp_path, sync):
    return Redis(net["db"], tmp_path, options=[*LOGGED, sync]).on_disk("64MB")


def break_now(net, service, *words):
    with net.faults({"0s": list(words)}, service):
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("sync", "fault", "is_kept"),
    [("no", "kill", True), ("no", "crash", False), ("always", "crash", True)],
)
def test_a_power_loss_takes_what_was_not_synced_and_a_kill_does_not(net, tmp_path, sync, fault, is_kept):
    with redis_on_disk(net, tmp_path, sync) as redis:
        redis.ask("SET", "old", "1")
        time.sleep(WRITTEN_BACK_S)
        redis.ask("SET", "new", "1")
        with net.faults({"0s": f"{fault} db", "0.5s": "start db"}, redis):
            time.sleep(1)
            redis.wait()
        assert redis.ask("GET", "old") == ["1"]
        assert redis.ask("GET", "new") == (["1"] if is_kept else [""])


def test_a_database_keeps_what_it_acknowledged_unless_it_was_told_not_to_sync(net, tmp_path):
    with PostgreSQL(net["db"], tmp_path).on_disk() as db:
        db.query("CREATE TABLE t (i int)")
        db.query("INSERT INTO t VALUES (1)")
        db.query("SET synchronous_commit = off; INSERT INTO t VALUES (2)")
        with net.faults({"0s": "crash db", "0.5s": "start db"}, db):
            time.sleep(1)
            db.wait()
        assert db.query("SELECT i FROM t") == ["1"]


def test_a_full_disk_has_no_room_and_a_mended_one_has(net, tmp_path):
    with redis_on_disk(net, tmp_path, "no") as redis:
        room = os.statvfs(redis.state).f_bavail
        assert room > 1000
        with net.faults({"0s": "fill-disk db", "1s": "repair-disk db"}, redis):
            time.sleep(0.5)
            assert os.statvfs(redis.state).f_bavail == 0
            with pytest.raises(OSError, match="No space left"):
                (redis.state / "more").write_bytes(bytes(1 << 20))
            time.sleep(1)
        (redis.state / "more").unlink()
        assert os.statvfs(redis.state).f_bavail >= room - 10


def write_synced(path):
    """Write to a file and sync it; return the seconds."""
    with path.open("wb") as file:
        begun = time.monotonic()
        file.write(b"x" * 4096)
        file.flush()
        os.fsync(file.fileno())
    return time.monotonic() - begun


def test_a_slow_disk_makes_a_sync_wait(net, tmp_path):
    with redis_on_disk(net, tmp_path, "no") as redis:
        usual = write_synced(redis.state / "a")
        with net.faults({"0s": "slow-disk db 50ms", "5s": "repair-disk db"}, redis):
            time.sleep(0.1)
            slow = write_synced(redis.state / "b")
            time.sleep(5)
            again = write_synced(redis.state / "c")
    # The data, the journal and its end, one after another; merged requests wait once.
    assert usual < LATE_S
    assert 0.1 <= slow - usual <= 0.3 + LATE_S
    assert again < LATE_S


def test_a_failing_disk_refuses_writes_until_it_is_mounted_again(net, tmp_path):
    with redis_on_disk(net, tmp_path, "no") as redis:
        with net.faults({"0s": "fail-disk db", "10s": "repair-disk db"}, redis):
            time.sleep(0.5)
            with pytest.raises(OSError, match=REFUSED):
                write_synced(redis.state / "a")
            time.sleep(10)  # the journal is written every 5 s
        with pytest.raises(OSError, match=REFUSED):  # the file system has given up
            write_synced(redis.state / "b")
        with net.faults({"0s": "kill db", "0.2s": "start db"}, redis):
            time.sleep(0.5)
            redis.wait()
        assert write_synced(redis.state / "c") < LATE_S


def test_a_disk_is_as_slow_and_as_full_after_a_crash(net, tmp_path):
    with redis_on_disk(net, tmp_path, "no") as redis:
        with net.faults({"0s": "slow-disk db 50ms", "0.2s": "crash db", "2s": "start db"}, redis):
            time.sleep(3)
            redis.wait()
            assert write_synced(redis.state / "a") > 0.1
        with net.faults({"0s": "fill-disk db", "0.2s": "crash db", "2s": "start db", "3s": "repair-disk db"}, redis):
            time.sleep(1)
            assert os.statvfs(redis.state).f_bavail == 0
            time.sleep(3)
            redis.wait()
        assert os.statvfs(redis.state).f_bavail > 1000


def test_what_a_block_leaves_is_mended(net, tmp_path):
    with redis_on_disk(net, tmp_path, "no") as redis:
        break_now(net, redis, "fill-disk db")
        assert os.statvfs(redis.state).f_bavail > 1000
        break_now(net, redis, "slow-disk db 50ms")
        assert write_synced(redis.state / "a") < LATE_S
    assert not [each for each in os.listdir("/dev/mapper") if each.startswith("slownet")]
    assert "/dev/mapper" not in Path("/proc/mounts").read_text()


def test_a_disk_is_given_before_the_start_and_is_large_enough(net, tmp_path):
    with pytest.raises(ServiceError, match="a disk of 1MB is too small"):
        Redis(net["db"], tmp_path).on_disk("1MB")
    with Redis(net["db"], tmp_path) as redis:
        with pytest.raises(ServiceError, match=r"redis is already started, .*: call on_disk\(\) before"):
            redis.on_disk()
        with pytest.raises(ServiceError, match="redis has no disk of its own"):
            redis.crash()
