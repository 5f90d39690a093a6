"""The plugin in projects with the same names: the project's names keep their meaning, and slownet's have full names."""

import ast
import re
from pathlib import Path

import pytest

from slownet import pytest_plugin
from slownet.pytest_plugin import short_names

pytest_plugins = ["pytester"]

PLUGIN = ("-p", "slownet.pytest_plugin", "-p", "no:hypothesispytest")  # it imports Hypothesis at the end of every session
SHORT_FIXTURES = ["browser", "mariadb", "measure", "net", "network", "nginx", "page", "wordpress"]
ITS_OWN = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    from slownet.pytest_plugin.wishes import needs_network
    for item in items:
        print("item", item.name, needs_network(item), "slownet_net" in item.fixturenames)
"""


@pytest.fixture
def collected(pytester):
    """How the plugin sees a project's tests: collected(conftest, tests) -> {name: (needs a network, uses net)}."""

    def collect(conftest, tests, *arguments):
        pytester.makeconftest(ITS_OWN + conftest)
        pytester.makepyfile(tests)
        result = pytester.runpytest_subprocess(*PLUGIN, "--collect-only", "-q", "-s", *arguments)
        assert result.ret == 0, result.stdout.str() + result.stderr.str()
        lines = [line.split() for line in result.outlines if line.startswith("item ")]
        return {name: (needs == "True", rests == "True") for _, name, needs, rests in lines}

    return collect


OWN = "".join(f"\n@pytest.fixture\ndef {name}():\n    return 'own {name}'\n" for name in SHORT_FIXTURES)
OWN_TESTS = "".join(f"\ndef test_{name}({name}):\n    assert {name} == 'own {name}'\n" for name in SHORT_FIXTURES)


def passed(pytester, *arguments, count):
    result = pytester.runpytest_subprocess(*PLUGIN, "--strict-markers", "-W", "error", *arguments)
    result.assert_outcomes(passed=count)
    assert "slownet: in a lab" not in result.stdout.str()


def test_a_conftests_fixtures_go_before_the_plugins(pytester):
    pytester.makeconftest(f"import pytest\n{OWN}")
    pytester.makepyfile(OWN_TESTS)
    passed(pytester, count=len(SHORT_FIXTURES))


def test_a_modules_and_a_classs_fixtures_do_so_too(pytester):
    pytester.makepyfile(
        test_module=f"import pytest\n{OWN}{OWN_TESTS}",
        test_class="""
            import pytest

            class TestIt:
                @pytest.fixture
                def net(self):
                    return "the class's"

                def test_net(self, net):
                    assert net == "the class's"
        """,
    )
    passed(pytester, count=len(SHORT_FIXTURES) + 1)


def test_a_parameter_of_that_name_is_no_fixture(pytester):
    pytester.makepyfile("""
        import pytest

        @pytest.mark.parametrize("net", [1, 2])
        def test_it(net):
            assert net in (1, 2)
    """)
    passed(pytester, count=2)


def test_slownets_fixtures_do_not_rest_on_a_projects(collected):
    own = "@pytest.fixture\ndef net():\n    pass\n\n@pytest.fixture\ndef wordpress():\n    pass\n"
    tests = "def test_both(net, nginx): pass\ndef test_own(net): pass\ndef test_database(wordpress, mariadb): pass\n"
    assert collected(own, tests) == {"test_both": (True, True), "test_own": (False, False), "test_database": (True, True)}


def test_whole_names_are_always_there(collected):
    tests = "".join(f"def test_{name}(slownet_{name}): pass\n" for name in SHORT_FIXTURES)
    everywhere = {f"test_{name}": (True, True) for name in SHORT_FIXTURES} | {"test_network": (True, False)}
    assert collected("", tests) == everywhere
    assert collected("", tests, "-o", "slownet_short_names=") == everywhere


def test_playwrights_plugin_keeps_its_names(pytester):
    pytester.makepyfile(playwright="import pytest\n\n@pytest.fixture\ndef page():\n    return 'its own'\n")
    pytester.makepyfile(test_it="def test_page(page):\n    assert page == 'its own'\n\ndef test_browser(browser): pass\n")
    result = pytester.runpytest_subprocess("-p", "playwright", *PLUGIN)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*fixture 'browser' not found"])


OTHER_PLUGIN = """
import pytest

@pytest.fixture
def net():
    return "another plugin's"

@pytest.fixture
def nginx():
    return "another plugin's"
"""


@pytest.mark.parametrize("order", [("slownet.pytest_plugin", "others"), ("others", "slownet.pytest_plugin")], ids="-".join)
def test_another_plugins_fixture_where_the_short_name_is_left_to_it(pytester, order):
    pytester.makepyfile(others=OTHER_PLUGIN)
    pytester.makeini("[pytest]\nslownet_short_names = network measure\n")
    pytester.makepyfile("""
        def test_it(net, nginx):
            assert net == nginx == "another plugin's"
    """)
    pytester.syspathinsert()
    loaded = [word for name in order for word in ("-p", name)]
    result = pytester.runpytest_subprocess(*loaded)
    result.assert_outcomes(passed=1)


def test_a_short_name_that_is_none_is_one_line(pytester):
    pytester.makeini("[pytest]\nslownet_short_names = nett\n")
    result = pytester.runpytest_subprocess(*PLUGIN)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stderr.str() + result.stdout.str()
    assert "slownet: unknown short name 'nett', in the ini option slownet_short_names: did you mean 'net'?" in text
    assert "Traceback" not in text


MARKED = """
import pytest

pytestmark = [pytest.mark.hosts("a", "b"), pytest.mark.topology]

@pytest.mark.clock
def test_bare():
    pass

@pytest.mark.clock("frozen", at=3)
def test_with_arguments():
    pass

@pytest.mark.topology
def test_a_function(request):
    assert request.node.get_closest_marker("topology").args == ()

@pytest.mark.topology
class TestIt:
    def test_in_a_class(self, request):
        assert request.node.get_closest_marker("topology").args == ()

@pytest.mark.topology(TestIt, 3)
def test_a_class_among_others(request):
    assert request.node.get_closest_marker("topology").args == (TestIt, 3)

@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.topology), pytest.param(2, marks=pytest.mark.tdf)])
def test_a_parameter(number):
    pass
"""


@pytest.mark.parametrize("ini", ["", "slownet_short_names = net"])
def test_a_projects_own_markers_of_these_names_are_as_ever(pytester, ini):
    pytester.makeini(f"[pytest]\n{ini}\nmarkers =\n    clock: ours\n    hosts: ours\n    topology: ours\n    tdf: ours\n")
    pytester.makepyfile(MARKED)
    passed(pytester, count=7)


FROZEN = """
import pytest

@pytest.mark.clock("frozen")
def test_frozen(net):
    pass
"""


def wishes(pytester, tests, *arguments):
    """Each test's wish."""
    pytester.makeconftest("""
        def pytest_collection_finish(session):
            from slownet.pytest_plugin.wishes import of_item
            for item in session.items:
                print("item", of_item(item))
    """)
    pytester.makepyfile(tests)
    return pytester.runpytest_subprocess(*PLUGIN, "--collect-only", "-q", "-s", *arguments)


def test_a_marker_that_is_left_to_the_project_is_not_read(pytester):
    left = wishes(pytester, FROZEN, "-o", "slownet_short_names=net")
    assert "item the default clock" in left.outlines
    both = FROZEN.replace("@pytest.mark.clock", '@pytest.mark.slownet_clock("real")\n@pytest.mark.clock')
    assert "item real clock" in wishes(pytester, both, "-o", "slownet_short_names=net").outlines


def test_a_marker_that_cannot_be_slownets_says_how_to_leave_it(pytester):
    pytester.makepyfile(FROZEN)
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    assert re.search(r"test_frozen: .*or leave clock out of the ini option slownet_short_names", result.stdout.str())


def test_a_failed_comparison_with_anything_else_is_pytests_own(pytester):
    pytester.makepyfile("""
        from unittest.mock import MagicMock

        class Verdict:
            judgement = "guilty"

            def __repr__(self):
                return "a verdict; and more"

        def test_verdict():
            assert Verdict() == 3

        def test_mock():
            assert MagicMock() == 3
    """)
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(failed=2)
    assert "expected" not in result.stdout.str()
    assert "assert a verdict; and more == 3" in result.stdout.str()


@pytest.mark.parametrize("without", ["terminal", "junitxml", "debugging", "capture", "cacheprovider"])
def test_it_does_without_a_plugin_of_pytests(pytester, without):
    pytester.makepyfile("def test_it(): pass\ndef test_fails(): assert 0\n")
    result = pytester.runpytest_subprocess(*PLUGIN, "-p", f"no:{without}")
    assert result.ret == pytest.ExitCode.TESTS_FAILED, result.stdout.str() + result.stderr.str()
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()


def test_what_was_printed_before_it_was_known_where_the_session_goes_on_is_there_in_order(pytester):
    pytester.makepyfile("def test_it(): pass\n")
    lines = pytester.runpytest_subprocess(*PLUGIN).stdout
    lines.fnmatch_lines(
        ["*test session starts*", "rootdir: *", "collected 1 item", "", "test_*.py .*[[]100%[]]", "", "*1 passed*"]
    )


def test_the_fixtures_are_listed_with_what_they_are(pytester):
    result = pytester.runpytest_subprocess(*PLUGIN, "--fixtures")
    for name in SHORT_FIXTURES:
        assert re.search(rf"^slownet_{name}\b.* -- ", result.stdout.str(), re.MULTILINE)
        assert re.search(rf"^{name}\b.* -- ", result.stdout.str(), re.MULTILINE)
    listed = pytester.runpytest_subprocess(*PLUGIN, "--markers").stdout.str()
    for name in short_names.MARKERS:
        assert f"@pytest.mark.{name}(" in listed
        assert f"@pytest.mark.slownet_{name}(" in listed


PRIVATE = re.compile(r"_(?!_)")
OURS = [*Path(pytest_plugin.__file__).parent.glob("*.py"), *Path(pytest_plugin.__file__).parents[1].glob("pytest_*.py")]


@pytest.mark.parametrize("path", [each for each in OURS if "import pytest\n" in each.read_text()], ids=lambda path: path.name)
def test_nothing_private_of_pytests_is_touched(path):
    tree = ast.parse(path.read_text())
    imported = [each.module or "" for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    imported += [alias.name for each in ast.walk(tree) if isinstance(each, ast.Import) for alias in each.names]
    assert [each for each in imported if PRIVATE.match(each)] == []
    assert [
        f"{ast.unparse(each)}, line {each.lineno}"
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute) and PRIVATE.match(each.attr) and ast.unparse(each.value) not in ("self", "os")
    ] == []
    keywords = [word.arg for each in ast.walk(tree) if isinstance(each, ast.Call) for word in each.keywords if word.arg]
    assert [each for each in keywords if PRIVATE.match(each)] == []
