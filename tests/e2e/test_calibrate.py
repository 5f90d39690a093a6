"""`slownet doctor calibrate` from the command line."""

import json

import pytest
from command_line import slownet


def calibrate(*words, cwd):
    return slownet("doctor", "calibrate", *words, cwd=cwd)


@pytest.mark.parametrize(("words", "version"), [([], 4), (["--ipv6"], 6)], ids=["IPv4", "IPv6"])
def test_one_condition_of_each_kind_is_as_stated(tmp_path, words, version):
    done = calibrate("--quick", "--tdf", "inf", "--json", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr or done.stdout
    record = json.loads(done.stdout)
    assert (record["clock"], record["tdf"], record["ceiling_bit_s"]) == ("virtual", "inf", None)
    assert record["ip_version"] == version
    assert len(record["rows"]) >= 12
    for row in record["rows"]:
        assert {"condition", "stated", "measured", "error", "ok"} <= set(row)
        assert row["ok"] is True
        assert row["low"] <= row["measured"] <= row["high"]
    assert not list(tmp_path.iterdir())


def test_a_seed_makes_it_repeatable_where_the_cpu_is_free(tmp_path):
    def rows(seed):
        done = calibrate("--only", "duplicate", "--tdf", "inf", "--seed", seed, "--json", cwd=tmp_path)
        return json.loads(done.stdout)["rows"]

    first = rows("7")
    assert rows("7") == first
    assert rows("8") != first


def test_the_table_has_a_line_for_each_row(tmp_path):
    done = calibrate("--only", "mtu", "--only", "delay", "--tdf", "inf", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.count("round trip") == 9
    assert "12 rows, 0 not ok" in done.stdout


def test_over_ipv6_the_table_says_so_and_begins_with_its_least_mtu(tmp_path):
    done = calibrate("--only", "mtu", "--tdf", "inf", "--ipv6", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[1].startswith("mtu 1280 ")
    assert ", IPv6, seed 1: 3 rows, 0 not ok" in done.stdout


def test_on_a_charged_clock_what_the_cpu_cannot_carry_is_left_out(tmp_path):
    done = calibrate("--only", "rate", "--tdf", "1", "--json", cwd=tmp_path)
    record = json.loads(done.stdout)
    assert record["ceiling_bit_s"] > 0
    stated = {row["condition"] for row in record["rows"]} | set(record["left_out"])
    assert {"rate 200kbit", "rate 2Mbit", "rate 1Gbit"} <= stated
    assert ("rate 1Gbit" in record["left_out"]) is (record["ceiling_bit_s"] < 2e9)


FAST = '''
from slownet.hypotheses.experiment import experiment
from slownet.tools.ping import ping
from slownet.topologies import ClientWebDb


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})
def fast(net, rtt):
    """What does a ping take?"""
    with net.link("client", "switch").set(rtt=rtt, rate="900Gbit" if rtt == "10ms" else "1Mbit"):
        return ping(net["client"], net["web"].IP())
'''


@pytest.mark.parametrize(("tdf", "beyond"), [("2", [False, True]), ("inf", [False, False])])
def test_a_run_flags_a_rate_that_the_cpu_cannot_carry(tmp_path, tdf, beyond):
    (tmp_path / "fast.py").write_text(FAST)
    done = slownet("run", "fast.py", "--tdf", tdf, "--repeat", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("† a link is set to a rate that this CPU cannot carry" in done.stdout) is any(beyond)
    (path,) = tmp_path.glob("runs/*/run.json")
    facts = json.loads(path.read_text())
    assert [cell["beyond_cpu"] for cell in facts["cells"]] == beyond
    assert [cell["rate_bit_s"] for cell in facts["cells"]] == [1e6, 900e9]
    assert ("ceiling_bit_s" in facts) is (tdf != "inf")  # where the CPU is free it carries any rate


def test_a_mistake_is_one_line(tmp_path):
    """As other mistakes are, in tests/unit/cli/test_mistakes.py."""
    done = calibrate("--only", "dealy", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "'delay'" in done.stderr
