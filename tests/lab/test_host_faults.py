"""Faults of hosts beside cuts: names that are gone, corrupted packets, a slow processor, and all processes of a server."""

import os
import re
import time
from pathlib import Path

import pytest

from slownet import Command, NameServer
from slownet.lab.host import native
from slownet.model.errors import ConditionError
from slownet.net.process import family
from slownet.services.postgresql import PostgreSQL

BURN = "import time; begin = time.process_time(); end = time.monotonic() + 2\nwhile time.monotonic() < end: pass\n"
BURN += "print(time.process_time() - begin, flush=True)\ntime.sleep(1000)"


def test_a_host_that_loses_its_name_server_knows_addresses_and_another_host_knows_names(net, tmp_path):
    ask = "getent hosts web >/dev/null && echo known || echo unknown"
    with NameServer(net["db"], tmp_path, options=["timeout:1", "attempts:1"]):
        with net.faults({"0s": "lose-names client", "20s": "restore-names client"}) as faults:
            assert net["client"].cmd("nft list tables").strip() == "table inet slownet_names"
            assert net["client"].cmd(ask).strip() == "unknown"
            assert net["web"].cmd(ask).strip() == "known"
            assert "1 received" in net["client"].cmd(f"ping -c 1 {net['web'].IP()}")
            faults.wait()
            assert net["client"].cmd(ask).strip() == "known"
        with net.faults({"0s": "lose-names client"}):
            pass
        assert net["client"].cmd(ask).strip() == "known"
        assert net["client"].cmd("nft list tables").strip() == ""
    assert [step.what for step in faults.steps] == ["lose-names client", "restore-names client"]


def test_a_host_with_its_names_in_a_file_cannot_lose_them(net):
    with pytest.raises(ConditionError, match="but client asks no name server: its names are in /etc/hosts"):
        net.faults({"0s": "lose-names client"}).__enter__()


def test_corrupted_packets_are_lost_and_the_links_own_condition_stays(net):
    def lost():
        said = net["client"].cmd(f"ping -q -i 0.01 -c 200 -s 1000 {net['db'].IP()}")
        return int(re.search(r"(\d+) received", said)[1]), float(re.search(r"= ([0-9.]+)/", said)[1])

    with net.link("db", "switch").set(rtt="10ms"):
        with net.faults({"0s": "corrupt db 20%", "10s": "stop-corrupting db"}) as faults:
            shown = net["db"].cmd("tc qdisc show")
            received, least = lost()
            assert "corrupt 20%" in shown
            assert 80 < received < 170  # 0.8 squared of 200 is 128, less those that hit what ping does not check
            assert least == pytest.approx(10, abs=0.5)
            faults.wait()
            assert "corrupt" not in net["db"].cmd("tc qdisc show")
            assert lost()[0] == 200
        assert str(net.link("db", "switch").condition) == "+10 ms RTT"
    assert [step.what for step in faults.steps] == ["corrupt db 20%", "stop-corrupting db"]


@pytest.mark.skipif(native.cpu_is_free(), reason="computing takes no time here")
def test_a_slow_processor_is_a_part_of_one(net, tmp_path):
    with Command(net["db"], ["python3", "-c", BURN], tmp_path, name="burning") as burning:
        with net.faults({"0s": "slow-cpu db 10%", "3s": "restore-cpu db"}, burning):
            (group,) = Path("/sys/fs/cgroup").glob("slownet.*.slow-burning-db")
            assert (group / "cpu.max").read_text() == "10000 100000\n"
            time.sleep(3.5)
            assert not group.exists()
        assert 0.05 < float(burning.log.read_text().split()[0]) < 0.4  # of 2 s


@pytest.mark.skipif(not native.cpu_is_free(), reason="computing takes time here")
def test_a_slow_processor_is_refused_where_computing_takes_no_time(net, tmp_path):
    with Command(net["db"], ["sleep", "1000"], tmp_path, name="one") as one:
        line = "'slow-cpu db 10% at 1 s' changes nothing: computing takes no time on this clock: run with --tdf 1, or pause"
        with pytest.raises(ConditionError, match=re.escape(line)):
            net.faults({"1s": "slow-cpu db 10%"}, one).__enter__()


def test_processes_with_sessions_of_their_own_are_paused_and_killed_too(net, tmp_path):
    with PostgreSQL(net["db"], tmp_path) as db:
        several = family(db._process.pid)
        assert len(several) > 4
        assert len({os.getpgid(each) for each in several}) > 4
        with net.faults({"0s": "pause db", "1s": "resume db", "2s": "kill db", "3s": "start db"}, db) as faults:
            time.sleep(0.5)
            assert {Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()[0] for each in several} <= {"T", "Z"}
            time.sleep(2)
            assert not [each for each in several if Path(f"/proc/{each}").exists()]
            faults.wait()
            db.wait()
            assert db.query("SELECT 1") == ["1"]
