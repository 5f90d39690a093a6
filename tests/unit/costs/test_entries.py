"""Entries are read from files; each mistake is one line that says which file and what to write."""

import re

import pytest

from slownet.costs import catalogue, packages
from slownet.costs.entry import GROUPS, Operation, entry, server
from slownet.costs.served import SERVICES
from slownet.model.errors import ExperimentError, LabError

OWN = """
program = "ask"
ecosystem = "debian"
server = "redis"

[[operation]]
name = "one"
group = "whole"
trips = 2
each = ["TCP", "GET"]
run = "redis-cli -h $SERVER get a"
"""
CODED = """
program = "ask"
ecosystem = "python"
server = "redis"
version = "2.0"
packages = ["asked=={version}", "besides==1"]
code = "..."
operation = [{ name = "one", group = "new", trips = 3, earlier = { "1.0" = 2 } }]
"""


def written(tmp_path, text, name="ask.toml"):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def test_an_entry_of_commands(tmp_path):
    found = entry(written(tmp_path, OWN))
    assert (found.name, found.program, found.code, found.needs("")) == ("ask", "ask", "", ())
    assert [(each.name, each.trips, each.each) for each in found.operations] == [("one", 2.0, ("TCP", "GET"))]


def test_a_version_chooses_the_packages_and_the_number(tmp_path):
    found = entry(written(tmp_path, CODED))
    assert found.needs("1.0") == ("asked==1.0", "besides==1")
    assert [found.operations[0].expected(version) for version in ("2.0", "1.0", "0.9")] == [3, 2, 2]


def test_several_round_trips_have_one_name(tmp_path):
    text = OWN.replace("trips = 2", "trips = 11").replace('"GET"', '"10 x GET"')
    assert entry(written(tmp_path, text)).operations[0].trips == 11


@pytest.mark.parametrize(
    ("change", "to", "says"),
    [
        ('"debian"', '"debain"', "unknown ecosystem 'debain', .*ask.toml: .*debian"),
        ('group = "whole"', 'group = "hole"', "unknown group 'hole', operation one, .*ask.toml: .*whole"),
        ("trips = 2", "trips = 3", "2 round trips are described, 3 expected, operation one, .*: describe each, or none"),
        ("trips = 2", 'trips = "2"', "`trips` is not a number"),
        ("trips = 2\n", "", "`trips` is missing"),
        ("run =", "ran =", "unknown key 'ran', .*ask.toml"),
        ('run = "redis-cli -h $SERVER get a"\n', "", "operation one has no way to be done"),
        ('server = "redis"', 'server = "redis"\ncode = "x"', "operation one has two ways to be done"),
        ('each = ["TCP", "GET"]', 'cured = "other"', "unknown operation 'other', `cured` of one"),
        ("[[operation]]", "[operation]", "`operation` is not a list"),
        ('name = "one"', 'name = "<b>"', "'<b>' cannot name an operation, .*ask.toml: use letters"),
        ('name = "one"', 'name = ""', "'' cannot name an operation"),
        ('server = "redis"', 'server = "../redis"', "'../redis' cannot name a server"),
        ("trips = 2", "trips = nan", "`trips` is not a number of round trips, operation one, .*: write 0 or more"),
        ("trips = 2", "trips = -2", "`trips` is not a number of round trips"),
        ("trips = 2", "trips = 2\nguess = inf", "`guess` is not a number of round trips"),
        ("trips = 2", 'trips = 2\nearlier = { "1" = -1 }', "`earlier` of 1 is not a number of round trips"),
        ('server = "redis"', 'server = "redis"\npackages = ["a=={vresion}"]', "'{vresion}' in a package's name is not known"),
        ('program = "ask"', "program = 7", "`program` is not a text"),
        ('program = "ask"', "program = ", "not TOML"),
        ('server = "redis"', 'server = "redis"\npackages = ["", "a"]', "`packages` is not a list of texts"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, change, to, says):
    assert change in OWN
    with pytest.raises(ExperimentError) as raised:
        entry(written(tmp_path, OWN.replace(change, to)))
    assert re.search(says, str(raised.value))


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(ExperimentError, match=r"cannot read .*none\.toml"):
        catalogue.choose([str(tmp_path / "none.toml")])


def test_a_client_program_may_be_a_file_beside_its_entry(tmp_path):
    written(tmp_path, "print(1)", "ask.py")
    assert entry(written(tmp_path, CODED.replace('code = "..."', 'client = "ask.py"'))).code == "print(1)"


def test_a_server_beside_an_entry_comes_first(tmp_path):
    found = entry(written(tmp_path, OWN))
    assert catalogue.find_server(found).service == "redis"
    written(tmp_path, 'run = "exec mine"\nport = 7', "servers/redis.toml")
    assert catalogue.find_server(found).run == "exec mine"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("port = 7", "either a service or a command"),
        ('run = "x"', "needs the port"),
        ('run = "x"\nport = 70000', "70000 is not a port"),
        ('run = "x"\nservice = "redis"\nport = 7', "either a service or a command"),
        ('run = "x"\nport = 7\npackages = ["a==1"]', "unknown ecosystem ''"),
        ('run = "x"\nport = 7\ncode = "x"', "unknown ecosystem ''"),
        (
            'run = "x"\nport = 7\ncode = "x"\necosystem = "php"',
            "`code` is compiled, which php is not, .*: use go, java, rust, or `run`",
        ),
        ('run = "x"\nport = 7\necosystem = "jaav"\npackages = ["a:a:1"]', "unknown ecosystem 'jaav', .*java"),
    ],
)
def test_a_mistake_in_a_server_is_one_line(tmp_path, text, says):
    with pytest.raises(ExperimentError, match=says):
        server(written(tmp_path, text))


def test_a_server_has_packages_of_an_ecosystem(tmp_path):
    text = 'run = "x"\nport = 7\necosystem = "java"\npackages = ["a:a:1"]'
    assert (found := server(written(tmp_path, text))).packages == ("a:a:1",)
    assert packages.folder(found.ecosystem, ()) is None
    with pytest.raises(LabError, match="packages of 'ruby' are not fetched by themselves: use one of python, "):
        packages.folder("ruby", ["a"])


def test_an_unknown_server_is_one_line(tmp_path):
    with pytest.raises(ExperimentError, match=r"unknown server 'redsi', .*ask.toml: .*redis"):
        catalogue.find_server(entry(written(tmp_path, OWN.replace('"redis"', '"redsi"'))))


def test_words_choose_entries():
    redis = catalogue.choose(["redis"])
    assert {"redis-py", "redis-asyncio"} <= {each.name for each in redis}
    assert catalogue.choose(["redis-py"])[0].program == "redis-py"
    assert len(catalogue.choose(["redis-py"])) == 1
    assert len(catalogue.choose(["python", "redis-py"])) == len(catalogue.choose(["python"]))
    assert catalogue.choose([]) == list(catalogue.entries().values())
    with pytest.raises(ExperimentError, match=r"no entry is called 'redsi-py': .*redis-py"):
        catalogue.choose(["redsi-py"])
    with pytest.raises(ExperimentError, match=r"no entry is called 'redsi': did you mean 'redis'"):
        catalogue.choose(["redsi"])


@pytest.mark.parametrize("word", ["", "  "])
def test_an_empty_word_does_not_choose_all(word):
    with pytest.raises(ExperimentError, match="an empty text names no entry"):
        catalogue.choose([word])


def test_a_file_with_the_name_of_an_entry_is_not_that_entry(tmp_path):
    own = entry(written(tmp_path, OWN, "redis-py.toml"))
    assert not catalogue.is_own(own)
    assert catalogue.is_own(catalogue.entries()["redis-py"])
    assert len(catalogue.choose([str(own.file), str(tmp_path / ".." / tmp_path.name / "redis-py.toml")])) == 1
    with pytest.raises(ExperimentError, match=r"two entries are called 'redis-py', .* and .*: rename one of the files"):
        catalogue.choose(["redis-py", str(own.file)])


def test_an_expectation_is_of_one_entry(tmp_path):
    assert catalogue.exactly("redis-py").program == "redis-py"
    assert catalogue.exactly(str(written(tmp_path, OWN))).name == "ask"
    with pytest.raises(ExperimentError, match="no entry is called 'redis': did you mean"):
        catalogue.exactly("redis")


def test_an_unknown_key_of_an_operation_names_it(tmp_path):
    with pytest.raises(ExperimentError, match=r"unknown key 'eech', operation \w+, .*toml: did you mean 'each'"):
        entry(written(tmp_path, OWN.replace("each =", "eech =")))


def test_each_entry_of_the_catalogue_is_whole():
    assert len(catalogue.entries()) == len(list(catalogue.ENTRIES.rglob("*.toml")))
    for each in catalogue.entries().values():
        found = catalogue.find_server(each)
        assert not found.service or found.service in SERVICES, each.name
        assert each.ecosystem == each.file.parent.name, each.name
        assert each.ecosystem in packages.CLIENT, each.name
        assert not found.packages or found.code or found.ecosystem in packages.FETCHED, found.name
        assert {one.group for one in each.operations} <= GROUPS.keys()
        assert all(set(one.earlier) <= set(each.versions) for one in each.operations), each.name
        assert not each.versions or each.version, each.name


def test_operations_have_names_of_their_own(tmp_path):
    text = OWN + OWN[OWN.index("[[operation]]") :]
    with pytest.raises(ExperimentError, match=r"two operations are called 'one', .*: give each a name of its own"):
        entry(written(tmp_path, text))


@pytest.mark.parametrize(
    ("version", "trips"),
    [("8.1", 6), ("8.0", 6), ("7.4.1", 4), ("7.4.0", 4), ("5.0", 4), ("4.9", 2), ("4.6", 2), ("4.5", 2), ("", 6), ("9.0b1", 6)],
)
def test_a_version_that_is_not_named_has_the_number_of_the_one_before(version, trips):
    operation = Operation("connect", "new", 6.0, earlier={"7.4.1": 4.0, "5.0": 4.0, "4.6": 2.0})
    assert operation.expected(version) == trips


@pytest.mark.parametrize(
    ("version", "measured", "expected"),
    [
        ("4.9", 4.01, 4), ("4.9", 2, 2), ("4.9", 6, 4), ("5.0", 2, 4), ("7.9", 4, 4), ("7.9", 6, 6), ("8.1", 4, 6),
        ("9.0", 4, 6), ("4.5", 2, 2), ("4.5", 4, 2), ("", 4, 6),
    ],
)  # fmt: skip
def test_a_version_between_two_may_have_the_number_of_either(version, measured, expected):
    operation = Operation("connect", "new", 6.0, earlier={"7.4.1": 4.0, "5.0": 4.0, "4.6": 2.0})
    assert operation.nearest(version, "8.1", measured) == expected
