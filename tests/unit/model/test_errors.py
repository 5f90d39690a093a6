import importlib
import pickle

import pytest

from slownet.model.errors import ServiceError, SlownetError, ToolError, nearest


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        (("no ab",), "no ab"),
        (("no ab", "on web"), "no ab, on web"),
        (("no ab", "", "apt-get install apache2-utils"), "no ab: apt-get install apache2-utils"),
        (("no ab", "on web", "install it"), "no ab, on web: install it"),
        (("two\nlines ", "in\ta file"), "two lines, in a file"),
    ],
)
def test_an_error_is_one_line(parts, line):
    assert str(SlownetError(*parts)) == line


def test_a_service_error_shows_its_log_below_the_line():
    error = ServiceError("nginx died", "on web", "see nginx.log", log="bind() failed\nexiting\n")
    assert str(error) == "nginx died, on web: see nginx.log\n    bind() failed\n    exiting"
    assert error.line == "nginx died, on web: see nginx.log"
    assert str(ServiceError("nginx died")) == "nginx died"


def test_a_tool_error_keeps_raw_output_out_of_its_line():
    error = ToolError("ab printed nothing known", raw="a\nb\n")
    assert (str(error), error.raw) == ("ab printed nothing known", "a\nb\n")
    assert isinstance(error, SlownetError)


def test_nearest_suggests_one_name_or_lists_them():
    known = ["client_delay", "database_delay"]
    assert nearest("client_dela", known) == "did you mean 'client_delay'?"
    assert nearest("CLIENT_DELAY", known) == "did you mean 'client_delay'?"
    assert nearest("zebra", known) == "choose from client_delay, database_delay"
    assert nearest("zebra", []) == "there are none"
    assert nearest("zebra", [f"{n:02}" for n in range(14)]).endswith("10, 11 and 2 more")


def every_kind(kind=SlownetError):
    yield kind
    for each in kind.__subclasses__():
        yield from every_kind(each)


def test_every_error_reaches_another_process():
    """A sweep's workers send them to the planner; one that cannot be read there looks like a worker's death."""
    for name in ("slownet.cli.app", "slownet.runner.booting"):
        importlib.import_module(name)
    kinds = {kind for kind in every_kind() if kind.__module__.startswith("slownet.")}
    assert {"ProtocolError", "EventError", "ServiceError"} <= {each.__name__ for each in kinds}
    for kind in kinds:
        sent = pickle.loads(pickle.dumps(kind("what", "where", "fix")))
        assert (type(sent), str(sent)) == (kind, "what, where: fix")
