"""`slownet costs` from the command line: the catalogue, and an entry of one's own, which needs nothing but the lab's image."""

import json

from command_line import slownet

OWN = """
program = "redis-cli"
ecosystem = "debian"
server = "redis"

[[operation]]
name = "get"
group = "whole"
trips = 2
each = ["TCP", "GET"]
run = "redis-cli -h $SERVER get a"

[[operation]]
name = "three"
group = "batch"
trips = 3
run = "printf 'get a\\\\nget b\\\\nget c\\\\n' | redis-cli -h $SERVER"
"""


def test_an_own_entry_is_measured_and_what_differs_is_one_line(tmp_path):
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "none.toml").write_text(OWN.replace("redis-cli -h", "no-such-program -h"))
    (tmp_path / "dead.toml").write_text(OWN.replace('"redis"', '"broken"'))
    (tmp_path / "servers").mkdir()
    (tmp_path / "servers" / "broken.toml").write_text("run = 'exit 3'\nport = 7")
    done = slownet("costs", "own.toml", "none.toml", "dead.toml", "--measure", "--json", cwd=tmp_path)
    found = {each["id"]: each for each in json.loads(done.stdout)["operations"]}
    assert {name: each["round_trips"] for name, each in found.items()} == {
        "own/get": 2, "own/three": 4, "none/get": None, "none/three": None, "dead/get": None, "dead/three": None,
    }  # fmt: skip
    assert found["own/get"]["account"] == "TCP handshake, question and answer"
    assert "no-such-program" in found["none/get"]["failure"]
    assert "broken ended with status 3 before it answered" in found["dead/get"]["failure"]
    assert "slownet: own/three: 4.00, 3 expected\n" in done.stderr
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_an_expectation_decides_the_status(tmp_path):
    (tmp_path / "own.toml").write_text(OWN)
    grown = slownet("costs", "--expect", "own.toml/three=3", "--expect", "own.toml/get=2", cwd=tmp_path)
    assert (grown.returncode, "own/three: 4 round trips, more than the 3 expected" in grown.stderr) == (1, True)
    assert "own/get: 2 round trips, at most 2 expected" in grown.stderr


def test_the_catalogue_is_listed_without_a_lab(tmp_path):
    done = slownet("costs", "redis-py", "--json", cwd=tmp_path)
    found = {each["id"]: each["round_trips"] for each in json.loads(done.stdout)["operations"]}
    assert (done.returncode, found["redis-py/connect"], found["redis-py/pipeline"]) == (0, 6, 1)
    assert slownet("costs", "redsi-py", cwd=tmp_path).returncode == 2
    table = slownet("costs", "redis-py", "--csv", cwd=tmp_path)
    assert table.stdout.startswith("id,program,version,ecosystem,")
