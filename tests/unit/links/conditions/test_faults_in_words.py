"""Faults as people write them: what is understood, and what is refused before anything breaks."""

import pytest

from slownet import ConditionError, Faults, UnitError
from slownet.links.fault_file import FaultFile, of_argument, read
from slownet.links.fault_space import breaks, repairs
from slownet.links.faults import Cut, Heal, HostFault, Mtu, Reset, ServiceFault

HOSTS = ("client", "web", "db")
SERVICES = {"redis-db": "redis-db", "redis": "redis-db", "db": "redis-db", "shop-web": "shop-web"}


def test_words():
    faults = Faults.parse(
        {"9s": ["heal", "kill db"], "4.2s": "cut db from web, client", "10s": "start db", "5ms": "cut web to client"}
    )
    assert [(each.at, each.action) for each in faults.steps] == [
        (0.005, Cut(("web",), ("client",), one_way=True)),
        (4.2, Cut(("db",), ("web", "client"))),
        (9.0, Heal()),
        (9.0, ServiceFault("kill", "db")),
        (10.0, ServiceFault("start", "db")),
    ]
    assert str(faults) == (
        "cut web to client at 5 ms; cut db from web, client at 4.2 s; heal at 9 s; kill db at 9 s; start db at 10 s"
    )
    assert faults.to_json()[1] == {"at_s": 4.2, "do": "cut db from web, client"}
    again = Faults.parse({f"{each['at_s']}s": each["do"] for each in faults.to_json() if each["at_s"] != 9.0})
    assert again.steps == (*faults.steps[:2], faults.steps[4])
    assert [(at, len(actions)) for at, actions in faults.together()] == [(0.005, 1), (4.2, 1), (9.0, 2), (10.0, 1)]


def test_a_list_of_steps_is_as_in_compose_files():
    assert Faults.parse(["kill db at 2 s", "start db at 4 s"]) == Faults.parse({"2s": "kill db", "4s": "start db"})
    with pytest.raises(ConditionError, match="'kill db' has no time, in the faults: write"):
        Faults.parse(["kill db"])
    for wrong, kind in (([], "list"), (5, "int"), ([5], "list")):
        with pytest.raises(ConditionError, match=f"faults are of type {kind}: write them like"):
            Faults.parse(wrong)


def test_a_cut_loses_what_both_send_or_what_one_sends():
    assert Cut(("a", "b"), ("c",)).lost == {("a", "c"), ("b", "c"), ("c", "a"), ("c", "b")}
    assert Cut(("a", "b"), ("c",), one_way=True).lost == {("a", "c"), ("b", "c")}


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({}, 'faults without steps: write them like {"5s": "cut db from web", "6s": "heal"}'),
        ({"1s": "explode"}, "'explode' is not a fault, step '1s' of the faults: write \"cut HOSTS from HOSTS\""),
        ({"1s": "kill"}, "'kill' is not a fault"),
        ({"1s": "kill a b"}, "'kill a b' is not a fault"),
        ({"1s": "heal a"}, "'heal a' is not a fault"),
        ({"1s": "cut a b"}, "'cut a b' is not a fault"),
        ({"1s": "cut a from b to c"}, "'cut a from b to c' is not a fault"),
        ({"1s": "cut from b"}, "'cut' needs hosts on both sides, step '1s' of the faults"),
        ({"1s": "cut a from"}, "'cut' needs hosts on both sides"),
        ({"1s": "cut a, b from b"}, "'b' is on both sides of 'cut'"),
        ({"1s": "cut a, a from b"}, "'cut' names a host twice"),
        ({"1s": "reset a to b"}, "'reset a to b' is not a fault"),
        ({"1s": "reset a from"}, "'reset' needs hosts on both sides"),
        ({"1s": "reset a from a"}, "'a' is on both sides of 'reset'"),
        ({"1s": "mtu a"}, "'mtu a' is not a fault"),
        ({"1s": "mtu a big"}, "'big' is not an MTU, step '1s' of the faults: give bytes, 68 to 65535: mtu db 1280"),
        ({"1s": "mtu a 67"}, "'67' is not an MTU"),
        ({"1s": "mtu a 65536"}, "'65536' is not an MTU"),
        ({"1s": "slow-disk a"}, "a slow disk needs the time that each access waits, step '1s' of the faults"),
        ({"1s": "slow-disk a 0.5ms"}, "a disk cannot be slow by '0.5ms', step '1s' of the faults: give whole milliseconds"),
        ({"1s": "slow-disk a 0s"}, "a disk cannot be slow by '0s'"),
        ({"1s": "repair-disk"}, "'repair-disk' is not a fault"),
        ({"1s": "fail-disk a 5ms"}, "'fail-disk a 5ms' is not a fault"),
        (
            {"1s": "slow-cpu a"},
            "'' is not a percentage for slow-cpu, step '1s' of the faults: give one from 0.1% to below 100%",
        ),
        ({"1s": "slow-cpu a 100%"}, "'100%' is not a percentage for slow-cpu"),
        ({"1s": "slow-cpu a 0.05%"}, "'0.05%' is not a percentage for slow-cpu"),
        (
            {"1s": "corrupt a 0%"},
            "'0%' is not a percentage for corrupt, step '1s' of the faults: give one from above 0% to 100%",
        ),
        ({"1s": "corrupt a 5"}, "'5' is not a percentage for corrupt"),
        ({"1s": "lose-names"}, "'lose-names' is not a fault"),
        ({"1s": "stop-corrupting a 5%"}, "'stop-corrupting a 5%' is not a fault"),
        ({"1s": 5}, "5 is not a fault"),
        ({"1s": [5]}, "5 is not a fault"),
    ],
)
def test_what_is_no_fault(steps, message):
    with pytest.raises(ConditionError) as caught:
        Faults.parse(steps)
    assert message in str(caught.value)


def test_the_delay_of_a_slow_disk_is_a_duration():
    with pytest.raises(UnitError, match=r"step '1s' of the faults"):
        Faults.parse({"1s": "slow-disk a slowly"})


def test_words_about_connections_packets_and_disks():
    steps = {
        "1s": "reset web from db, client", "2s": "mtu db 1280", "3s": ["crash db", "slow-disk web 20 ms"], "4s": "fill-disk db",
    }  # fmt: skip
    faults = Faults.parse(steps)
    assert [each.action for each in faults.steps] == [
        Reset(("web",), ("db", "client")),
        Mtu("db", 1280),
        ServiceFault("crash", "db"),
        ServiceFault("slow-disk", "web", 0.02),
        ServiceFault("fill-disk", "db"),
    ]
    assert Faults.parse(str(faults)) == faults
    assert [getattr(each.action, "subject", "") for each in faults.steps] == ["", "db's MTU", "db", "web's disk", "db's disk"]


def test_a_time_that_is_none():
    with pytest.raises(UnitError, match=r"step 'soon' of the faults"):
        Faults.parse({"soon": "heal"})


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"1s": "cut dbb from web"}, "no host 'dbb', the faults' step at 1 s: did you mean 'db'?"),
        ({"1s": "heal"}, "nothing is cut that 'heal' could undo, the faults' step at 1 s"),
        ({"1s": "cut db from web", "2s": "cut web, client from db"}, "is cut from"),
        ({"1s": "cut db to web", "2s": "cut web to db", "3s": "cut db to web"}, "db is cut from web already"),
        ({"1s": "cut db from web", "2s": "heal", "3s": "heal"}, "the faults' step at 3 s"),
        ({"1s": "kill nginx"}, "no service 'nginx'"),
        ({"1s": "kill db", "2s": "kill redis"}, "'kill redis', but redis is dead by then, the faults' step at 2 s"),
        ({"1s": "start db"}, "'start db', but db runs by then"),
        ({"1s": "kill db", "2s": "pause db"}, "'pause db', but db does not run by then"),
        ({"1s": "resume db"}, "'resume db', but db is not paused by then"),
        ({"1s": "pause db", "2s": "start db"}, "'start db', but db runs by then"),
        ({"1s": "reset web from dbb"}, "no host 'dbb', the faults' step at 1 s: did you mean 'db'?"),
        ({"1s": "mtu dbb 1280"}, "no host 'dbb'"),
        (
            {"1s": "crash shop-web"},
            "'crash shop-web', but shop-web has no disk of its own, the faults' step at 1 s: give it one",
        ),
        ({"1s": "slow-disk shop-web 5ms"}, "but shop-web has no disk of its own"),
        ({"1s": "crash db", "2s": "kill redis"}, "'kill redis', but redis is dead by then"),
        ({"1s": "repair-disk db"}, "'repair-disk db', but db's disk is whole by then"),
        ({"1s": "fill-disk db", "2s": "slow-disk db 5ms"}, "'slow-disk db 5 ms', but db's disk is not whole by then"),
    ],
)
def test_what_cannot_happen_to_this_network(steps, message):
    with pytest.raises(ConditionError) as caught:
        Faults.parse(steps).check(HOSTS, SERVICES, ["redis-db"])
    assert message in str(caught.value)


def test_what_can():
    Faults.parse({
        "1s": "cut db from web", "2s": ["heal", "cut client to db"], "3s": "cut db to client", "4s": ["pause redis", "kill db"],
        "5s": ["start redis-db", "pause shop-web"], "6s": "resume shop-web", "7s": "heal", "8s": "fail-disk db",
        "9s": "crash db",
        "10s": ["repair-disk db", "start db", "reset web from db", "mtu db 1280"], "11s": "pause db", "12s": "crash db",
    }).check(HOSTS, SERVICES, ["redis-db"])  # fmt: skip


def test_a_service_that_was_not_given():
    with pytest.raises(ConditionError, match=r"no service 'db', .*: give it: net\.faults\(steps, service\)"):
        Faults.parse({"1s": "kill db"}).check(HOSTS, {})


LINE = "cut b from a, c at 4.2 s; heal at 9 s; kill c at 9 s; start c at 9.51234567 s"


def test_a_line_of_words_is_read_as_it_is_printed():
    faults = Faults.parse({"4.2s": "cut b from a, c", "9s": ["heal", "kill c"], "9.51234567s": "start c"})
    assert str(faults) == LINE
    assert Faults.parse(LINE) == faults
    assert Faults.parse(" none ") == Faults(())
    assert str(Faults(())) == "none"


@pytest.mark.parametrize("text", ["kill db", "", "kill db at 4 s;"])
def test_a_step_without_a_time(text):
    with pytest.raises(ConditionError, match=r"has no time, in the faults: write \"kill db at 4 s; start db at 5 s\""):
        Faults.parse(text)


def test_a_file(tmp_path):
    path = tmp_path / "found.toml"
    whole = FaultFile(Faults.parse(LINE), {"experiment": 'my "own".py'})
    path.write_text(whole.to_toml())
    assert whole.to_toml().splitlines() == [
        f"# {LINE}",
        "[faults]",
        '"4.2 s" = "cut b from a, c"',
        '"9 s" = ["heal", "kill c"]',
        '"9.51234567 s" = "start c"',
        "",
        "[found]",
        'experiment = "my \\"own\\".py"',
    ]
    assert read(path) == whole
    assert of_argument(str(path)) == whole.faults == of_argument(LINE)
    nothing = FaultFile(Faults(()), {"experiment": "mine.py"})
    path.write_text(nothing.to_toml())
    assert read(path) == nothing


def test_a_file_that_is_not_there_is_not_to_be_written(tmp_path):
    with pytest.raises(
        ConditionError, match=r"none\.toml cannot be read: No such file or directory: name a file that can be read$"
    ):
        read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[fault]\n", "unknown key 'fault', FILE: did you mean 'faults'?"),
        ("", 'no faults, FILE: write a table [faults] with steps such as "5s" = "kill db"'),
        ("faults = 5", "[faults] is not a table, FILE"),
        ("[faults]\n", "faults without steps, FILE"),
        ('[faults]\n"1s" = "explode"', "'explode' is not a fault, step '1s' of the faults, FILE"),
        ('[faults]\n"soon" = "heal"', "'soon' is not a duration, step 'soon' of the faults, FILE"),
        ('[faults]\n"1s" = "heal"\n[found]\na = 5', "[found] contains a value that is not a text, FILE"),
        ("faults", "FILE cannot be read: Expected"),
    ],
)
def test_a_file_that_is_wrong(tmp_path, text, message):
    path = tmp_path / "faults.toml"
    path.write_text(text)
    with pytest.raises((ConditionError, UnitError)) as caught:
        read(path)
    assert message.replace("FILE", str(path)) in str(caught.value)


def test_what_a_command_names():
    with pytest.raises(ConditionError, match=r"'kill db' has no time, in the faults: write a file, or words such as"):
        of_argument("kill db")
    with pytest.raises(ConditionError, match=r"/no/such\.toml cannot be read: No such file"):
        of_argument("/no/such.toml")


def test_words_about_names_corruption_and_processors():
    words = (
        "lose-names web at 1 s; corrupt db 2.5% at 2 s; slow-cpu db 10% at 3 s; stop-corrupting db at 4 s; "
        "restore-cpu db at 5 s; restore-names web at 6 s"
    )
    faults = Faults.parse(words)
    assert str(faults) == words
    assert [each.action for each in faults.steps[:3]] == [
        HostFault("lose-names", "web"), HostFault("corrupt", "db", 0.025), ServiceFault("slow-cpu", "db", share=0.1),
    ]  # fmt: skip
    faults.check(HOSTS, SERVICES)
    assert [each.action.subject for each in faults.steps[:3]] == ["web's names", "db's packets", "db's CPU"]
    assert [(breaks(each.action), repairs(each.action)) for each in faults.steps] == 3 * [(True, False)] + 3 * [(False, True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("restore-names web at 1 s", "'restore-names web', but web's names are whole by then, the faults' step at 1 s"),
        ("lose-names web at 1 s; lose-names web at 2 s", "'lose-names web', but web's names are not whole by then"),
        ("stop-corrupting db at 1 s", "'stop-corrupting db', but db's packets are whole by then"),
        ("corrupt dbb 5% at 1 s", "no host 'dbb', the faults' step at 1 s: did you mean 'db'?"),
        ("slow-cpu dbb 5% at 1 s", "no service 'dbb', the faults' step at 1 s"),
        ("slow-cpu db 5% at 1 s; slow-cpu redis-db 9% at 2 s", "'slow-cpu redis-db 9%', but redis-db's CPU is not whole by"),
        ("restore-cpu db at 1 s", "'restore-cpu db', but db's CPU is whole by then"),
    ],
)
def test_what_cannot_happen_to_names_packets_and_processors(words, message):
    with pytest.raises(ConditionError) as caught:
        Faults.parse(words).check(HOSTS, SERVICES)
    assert message in str(caught.value)
