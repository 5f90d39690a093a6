"""The record of `slownet.tools.statements`."""

import pytest

from slownet.model.errors import ToolError
from slownet.tools.statements import parse, statements


def test_the_times_are_in_order():
    found = parse('{"statement_ns": [2000000, 1000000]}\n')
    assert found.values == {"statement_ms": (2.0, 1.0)}


@pytest.mark.parametrize("text", ["", "{}", '{"statement_ns": []}', '{"statement_ns": "x"}', '{"statement_ns": [null]}'])
def test_an_output_that_is_not_understood(text):
    with pytest.raises(ToolError):
        parse(text)


def test_the_clients_parameters_are_words(canned):
    host = canned('{"statement_ns": [1]}')
    statements(host, "postgresql", "SELECT 1", {"host": "10.0.0.2", "sslmode": "require"}, connection="new", count=3)
    assert host.argv[0][-6:] == ["postgresql", "new", "3", "SELECT 1", "host=10.0.0.2", "sslmode=require"]


@pytest.mark.parametrize(
    ("system", "connection", "line"),
    [
        ("postgres", "new", "unknown 'postgres', in statements: did you mean 'postgresql'?"),
        ("mariadb", "knew", "unknown 'knew', in statements: did you mean 'new'?"),
    ],
)
def test_an_unknown_word_names_the_nearest(canned, system, connection, line):
    with pytest.raises(ToolError) as error:
        statements(canned("{}"), system, "SELECT 1", {}, connection=connection)
    assert str(error.value) == line
