"""What repeats is one part; nothing is lost, and texts are short whatever they are about."""

import pytest
from accounts import Path, mixed, page, repeated

from slownet.waits.account import Cause
from slownet.waits.account_text import LINES, WIDTH, answer, text
from slownet.waits.blocks import blocks
from slownet.waits.folds import folds


def folded(account, most=None):
    return folds(blocks(account), most)


def test_what_repeats_is_one_fold():
    found = folded(repeated(500))
    assert [(each.cause, each.times, len(each.steps)) for each in found] == [
        (Cause.HANDSHAKE, 1, 2), (Cause.EXCHANGE, 500, 1500),
    ]  # fmt: skip
    assert [each.cause for each in found[1].kinds] == [Cause.EXCHANGE, Cause.TIMER]
    assert found[1].round_trips == 500
    assert found[1].ns == 500 * 102_000_000
    assert found[1].hosts == ("client", "server")


def test_two_times_is_no_repetition():
    path = Path()
    for _ in range(2):
        path.ask("client", "web").stay("client", 1.0)
    assert [each.times for each in folded(path.account())] == [1, 1, 1, 1]


@pytest.mark.parametrize("account", [page(), repeated(), mixed()], ids=["page", "repeated", "mixed"])
@pytest.mark.parametrize("most", [None, 60, 10, 3])
def test_no_step_is_lost_and_their_order_stays(account, most):
    found = folded(account, most)
    assert tuple(step for each in found for step in each.steps) == account.steps
    assert most is None or len(found) <= most


def test_the_longest_parts_stay_on_their_own():
    path = Path()
    for number in range(40):
        path.stay(f"host-{number}", 100.0 if number in (7, 30) else 1.0)
    found = folded(path.account(), 7)
    assert [(each.pattern, each.ns // 1_000_000) for each in found if each.ns == 100_000_000] == [(1, 100), (1, 100)]
    assert sum(each.ns for each in found) == 238_000_000


def long_names():
    """Hosts with names of 120 characters, each with every cure."""
    path = Path()
    for one, other in ((f"{'a' * 120}{number}", f"{'b' * 120}{number}") for number in range(9)):
        path.shake(one, other).trip(one, other, cause=Cause.TLS).stay(one, 5.0, Cause.NAGLE).stay(other, 4.0, Cause.TIMER)
        for value in range(4):
            path.ask(one, other, f"SELECT {'c' * 100} WHERE id = {value}")
    return path.account(operation="what " * 90, notes=("note " * 60,) * 9)


@pytest.mark.parametrize(
    "account", [page(), repeated(), mixed(), mixed(3), mixed(100), long_names()], ids=lambda account: str(len(account.steps))
)
def test_a_text_has_at_most_40_lines_of_80_columns_and_begins_with_the_answer(account):
    links = {(f"h{one}", f"h{other}"): [f"a-long-name-of-a-link-{one}"] for one in range(9) for other in range(one)}
    lines = text(account, links).splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert answer(account).startswith(lines[0].rstrip())
    assert lines[0].partition(" ms")[0].replace(",", "").isdigit()


def test_the_table_has_what_repeats_in_one_line():
    assert f"{100.0:10.3f} {51000.0:10.3f}  500 x client -> server: question and answer and timer"[:80] in text(repeated(500))


def test_what_the_rows_of_a_table_say_adds_up():
    for account in (page(), repeated(), mixed()):
        lines = text(account).splitlines()
        begin = lines.index(f"{'at ms':>10} {'ms':>10}  cause") + 1
        rows = lines[begin : lines.index("", begin) if "" in lines[begin:] else None]
        assert sum(float(row[11:21]) for row in rows) == pytest.approx(account.elapsed_ns / 1e6, abs=0.001 * len(rows))
