"""Faults on a running network, as pings, a server's clients and the kernel see them."""

import re
import time

import pytest

from slownet import Command, MariaDB, NameServer, Redis, ServiceError, faults
from slownet.lab.host import native
from slownet.links.fault_space import BETWEEN, Break
from slownet.model.errors import ConditionError, NetworkError, ToolError
from slownet.net import fault_injection as playing
from slownet.net.process import wait_until

LATE_S = 0.02 if native.cpu_is_free() else 0.2
"""How late a step is: nft is a program, and the kernel waits for its readers."""
EVERY_S = 0.1


class Pings:
    """Pings from one host to another, with the second in which each was sent."""

    def __init__(self, net, source, to, count, *words):
        self.begun = time.monotonic()
        argv = ["ping", "-i", str(EVERY_S), "-c", str(count), "-W", "1", *words, to]
        self.process, self.count = net[source].popen(argv, stdout=-1), count

    def lost(self):
        """Return the seconds, by the plan, of those without an answer."""
        text = self.process.communicate()[0].decode()
        came = {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl", text)}
        return [(number - 1) * EVERY_S for number in range(1, self.count + 1) if number not in came]


def between(seconds, start, end):
    """Return whether these are the pings of that time, and all of them."""
    edge = LATE_S + EVERY_S
    inside = [each for each in seconds if start - edge <= each <= end + edge]
    return len(inside) == len(seconds) and len(seconds) >= (end - start) / EVERY_S - 2


def table(net, name):
    return net[name].cmd("nft list tables").strip()


def test_a_cut_loses_what_is_between_two_groups_and_nothing_else(net):
    with net.faults({"1s": "cut db from web", "2s": "heal", "3s": "cut client, web from db", "4s": "heal"}) as faults:
        web, client = Pings(net, "web", net["db"].IP(), 50), Pings(net, "client", net["db"].IP(), 50)
        others = Pings(net, "client", net["web"].IP(), 50)
        lost_by_web, lost_by_client = web.lost(), client.lost()
        assert others.lost() == []
    assert between([each for each in lost_by_web if each < 2.5], 1, 2)
    assert between([each for each in lost_by_web if each > 2.5], 3, 4)
    assert between(lost_by_client, 3, 4)
    assert [(step.planned, step.what) for step in faults.steps] == [
        (1, "cut db from web"), (2, "heal"), (3, "cut client, web from db"), (4, "heal"),
    ]  # fmt: skip
    assert all(0 <= step.actual - step.planned <= LATE_S for step in faults.steps)
    assert net.played[-1].to_json()["link"] == "faults"
    assert [table(net, each) for each in ("client", "web", "db")] == ["", "", ""]


def test_a_cut_of_one_way_lets_the_other_pass(net):
    """What db hears, it answers; a datagram needs no answer."""
    with net.faults({"0s": "cut db to web"}):
        assert "10.0.0.3" in net["web"].cmd("nft list table inet slownet_faults")
        assert table(net, "db") == ""
        heard = net["db"].popen(["timeout", "2", "nc", "-u", "-l", "-p", "7777"], stdout=-1)
        silent = net["web"].popen(["timeout", "2", "nc", "-u", "-l", "-p", "7777"], stdout=-1)
        time.sleep(0.5)
        net["web"].cmd(f"echo there | nc -u -w 1 {net['db'].IP()} 7777")
        net["db"].cmd(f"echo back | nc -u -w 1 {net['web'].IP()} 7777")
        assert heard.communicate()[0] == b"there\n"
        assert silent.communicate()[0] == b""
    assert table(net, "web") == ""


def test_ipv6_is_cut_too(net):
    net.add_ipv6()
    wide = re.search(r"2001:db8::[0-9a-f:]+", net["db"].cmd("ip -6 address show scope global"))[0]
    assert Pings(net, "web", wide, 3, "-6").lost() == []
    with net.faults({"0s": "cut db from web"}):
        assert len(Pings(net, "web", wide, 3, "-6").lost()) == 3
        assert Pings(net, "client", wide, 3, "-6").lost() == []


READER = """
import socket, sys
connection = socket.create_connection((sys.argv[1], 7777))
try:
    print(connection.recv(1))
except OSError as error:
    print(type(error).__name__)
"""


def test_hosts_reset_their_connections_with_some_and_not_with_others(net):
    listener = net["web"].popen(["nc", "-dlk", "7777"], stdin=-3, stdout=-3, stderr=-3)
    time.sleep(0.5)
    try:
        near, far = (
            net[each].popen(["python3", "-c", READER, net["web"].IP()], stdout=-1, stderr=-3) for each in ("client", "db")
        )
        with net.faults({"1s": "reset client from web", "3s": "reset web from db, client"}) as faults:
            time.sleep(2)
            assert near.poll() is not None
            assert far.poll() is None
            time.sleep(2)
        said = [each.communicate(timeout=30)[0].decode().strip() for each in (near, far)]
        assert said == ["ConnectionAbortedError", "ConnectionResetError"]  # it reset; it was told
        assert [step.what for step in faults.steps] == [
            "reset client from web (1 connection)",
            "reset web from db, client (1 connection)",
        ]
        assert "ESTAB" not in net["web"].cmd("ss -Htn state established")
    finally:
        listener.kill()
        listener.wait()


def test_a_smaller_mtu_swallows_large_packets_until_it_is_restored(net):
    def answers(size):
        return " 0% packet loss" in net["web"].cmd(f"ping -c 2 -i 0.2 -W 1 -M do -s {size} {net['db'].IP()}")

    with net.faults({"0s": "mtu db 1280"}):
        time.sleep(0.2)
        assert "mtu 1280" in net["db"].cmd("ip link show")
        assert not answers(1400)
        assert answers(1200)
    assert answers(1400)
    assert "mtu 1280" not in net["db"].cmd("ip link show")


def test_what_a_hunt_chooses_happens_and_is_mended(net, tmp_path):
    kinds = [
        "kill",
        "pause",
        "cut",
        "one-way",
        "reset",
        "mtu 1400",
        "corrupt 20%",
        "lose-names",
        "slow-disk",
        "fill-disk",
        "fail-disk",
        "crash",
    ]
    space = faults(["db", "web"], kinds, within="30s", services=["db"])
    sides = dict.fromkeys(BETWEEN, (("db",), ("web",)))
    breaks = [
        Break(kind, *sides.get(kind, (("db",), ())), begin=0.5 + number, end=1 + number)
        for number, kind in enumerate(space.kinds)
    ]
    schedule = space.of(breaks)
    server = Redis(net["db"], tmp_path / "redis").on_disk("64MB")
    with NameServer(net["web"], tmp_path / "names"), server, net.faults(str(schedule).split("; "), server) as playing_faults:
        playing_faults.wait()
        assert "mtu 1400" not in net["db"].cmd("ip link show")
        assert "corrupt" not in net["db"].cmd("tc qdisc show")
        assert table(net, "db") == ""
    assert [step.what.partition(" (")[0] for step in playing_faults.steps] == [str(step.action) for step in schedule.steps]
    assert len(schedule.steps) == 2 * len(kinds) - 1  # what was reset is not mended


def test_a_server_is_killed_started_paused_and_resumed(net, tmp_path):
    with Redis(net["db"], tmp_path) as redis:
        net["client"].cmd(f"redis-cli -h {net['db'].IP()} set key value")
        steps = {"0.5s": "pause db", "1.5s": "resume redis", "2s": "kill redis-db", "2.5s": "start db"}
        with net.faults(steps, redis) as faults:
            time.sleep(0.6)
            begun = time.monotonic()
            assert net["client"].cmd(f"redis-cli -h {net['db'].IP()} ping").strip() == "PONG"
            assert 0.8 <= time.monotonic() - begun <= 1 + LATE_S  # it waited for the end of the pause
            time.sleep(2.2 - (time.monotonic() - faults.start))
            assert not redis.running
            assert "refused" in net["client"].cmd(f"redis-cli -h {net['db'].IP()} ping 2>&1")
            time.sleep(0.5)
            redis.wait()
            assert net["client"].cmd(f"redis-cli -h {net['db'].IP()} ping").strip() == "PONG"
        assert [step.what for step in faults.steps] == list(steps.values())


HEIRS = """
import os, sys
for number in range(200):
    alive, held = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(held)
        os.read(alive, 1)  # ends with the parent, as what PostgreSQL's processes wait on
        open(f"{sys.argv[1]}/{number}", "w").close()
        os._exit(0)
    os.close(alive)
print("ready", flush=True)
os.read(os.pipe()[0], 1)
"""


def test_no_process_of_a_killed_server_lives_to_see_another_one_die(net, tmp_path):
    with Command(net["db"], ["python3", "-c", HEIRS, str(tmp_path)], tmp_path, ready="ready", name="heirs") as heirs:
        heirs.kill()
        time.sleep(0.5)
    assert [each.name for each in tmp_path.iterdir()] == [heirs.log.name]


def test_a_database_has_what_it_had_acknowledged(net, tmp_path):
    with MariaDB(net["db"], tmp_path) as db:
        db.query("CREATE DATABASE x; CREATE TABLE x.t (i INT) ENGINE=InnoDB; INSERT INTO x.t VALUES (7)")
        with net.faults({"0s": "kill db", "0.5s": "start db"}, db):
            time.sleep(1)
            db.wait()
            assert db.query("SELECT i FROM x.t") == [["7"]]


def test_what_was_killed_stays_so_and_what_was_paused_or_cut_does_not(net, tmp_path):
    with (
        Command(net["db"], ["sleep", "1000"], tmp_path, name="one") as one,
        Command(net["web"], ["sleep", "1000"], tmp_path, name="two") as two,
    ):
        with net.faults({"0s": ["kill one", "pause two", "cut db from web"]}, one, two):
            assert not one.running
            pid = two._process.pid
            assert wait_until(lambda: _state(pid) == "T", 5)
        assert not one.running
        assert wait_until(lambda: _state(pid) != "T", 5)
        assert Pings(net, "web", net["db"].IP(), 2).lost() == []


def _state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_nothing_breaks_if_a_step_is_wrong(net, tmp_path):
    with Command(net["db"], ["sleep", "1000"], tmp_path, name="one") as one:
        with (
            pytest.raises(ConditionError, match="no host 'dbb'"),
            net.faults({"0s": "kill one", "1s": "cut dbb from web"}, one),
        ):
            pass
        assert one.running
        one.stop()
        with pytest.raises(NetworkError, match="one-db does not run"):
            net.faults({"0s": "kill one"}, one).__enter__()


def test_a_step_that_fails_is_raised_at_the_end_and_all_is_mended(net, monkeypatch, tmp_path):
    true = playing.nft.commands

    def failing(host, lines):
        if host.name == "web" and any("saddr" in line for line in lines):
            raise ToolError("nft: it cannot")
        return true(host, lines)

    monkeypatch.setattr(playing.nft, "commands", failing)
    with pytest.raises(ToolError, match="nft: it cannot"), net.faults({"0.1s": "cut db from web"}):
        time.sleep(0.5)
    assert [table(net, each) for each in ("web", "db")] == ["", ""]
    with Command(net["db"], ["sleep", "1000"], tmp_path, name="one") as one:
        dead = net.faults({"0.2s": "pause one"}, one)
        dead.__enter__()
        one.kill()
        time.sleep(0.5)
        with pytest.raises(ServiceError, match="one has ended"):
            dead.__exit__(None, None, None)


def test_what_is_no_service_is_one_line(net):
    for wrong, what in (("redis", "'redis'"), (net["db"], "a Host"), ([], "a list")):
        with pytest.raises(ConditionError, match=rf"^{what} is not a service, in the faults: give the service itself"):
            net.faults({"1s": "kill redis"}, wrong)
