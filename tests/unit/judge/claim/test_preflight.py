import pytest

from slownet.judge.claim import (
    all_of,
    bound,
    constant_round_trips,
    equal,
    grows,
    law,
    more_round_trips,
    not_,
    predicted,
    ratio,
    requirements,
)
from slownet.model.errors import ExperimentError
from slownet.runner import planning

TIME = "time_per_request_ms"
CELLS = [({"rtt": f"{rtt}ms", "loss": "0%"}, {"rtt_ms": float(rtt), "loss": "0%"}) for rtt in (0, 10, 40)]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (ratio(TIME, {"rtt": "15ms"}, expected=4), "no cell at rtt 15ms, in experiment mine: the cells are rtt 0ms, loss 0%;"),
        (ratio(TIME, {"rt": "10ms"}, expected=4), "no condition 'rt', in experiment mine: did you mean 'rtt'?"),
        (equal(TIME, {"rtt": "10ms"}, of={"rtt": "5ms"}), "no cell at rtt 5ms"),
        (law(TIME, round_trips=4, along="delay_ms"), "no condition 'delay_ms'"),
        (law(TIME, round_trips=4, at={"loss": "1%"}), "no cell at loss 1%"),
        (all_of(grows(TIME), not_(bound(TIME, {"rtt": "1ms"}, at_most=3))), "no cell at rtt 1ms"),
    ],
)
def test_conditions_that_no_cell_has(claim, said):
    with pytest.raises(ExperimentError) as caught:
        requirements.check("mine", [claim], CELLS)
    assert said in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_planned_is_fine():
    claims = [
        law(TIME, round_trips=4),
        ratio(TIME, {"rtt": "0.01s"}, expected=4),
        more_round_trips(TIME, at_least=5, of="another"),
    ]
    requirements.check("mine", [*claims, constant_round_trips(TIME), all_of(*claims)], CELLS)


@pytest.mark.parametrize("name", ["client_delay", "database_delay"])
def test_the_projects_own_experiments(name):
    planning.check([name], {})


SEVERAL = [({"rtt": rtt, "size": size}, {"rtt_ms": float(rtt[:-2]), "size": size}) for rtt in ("0ms", "10ms") for size in "12"]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (ratio(TIME, {"rtt": "10ms"}, expected=4), "2 cells at rtt 10ms, in experiment mine: name one: rtt 10ms, size 1; "),
        (not_(equal(TIME, {"rtt": "10ms"})), "2 cells at rtt 10ms"),
        (
            grows(TIME),
            "two cells at rtt_ms = 0, in experiment mine: vary one condition only; law, grows and monotone take at={'size'",
        ),
        (grows(TIME, at={"size": "1", "rtt": "10ms"}), "no trend from 1 value of rtt_ms"),
    ],
)
def test_cells_that_a_claim_cannot_be_judged_on(claim, said):
    with pytest.raises(ExperimentError) as caught:
        requirements.check("mine", [claim], SEVERAL)
    assert said in str(caught.value)


def test_claims_that_choose_one_of_several_are_fine_and_no_function_of_theirs_is_called():
    one = {"rtt": "10ms", "size": "1"}
    claims = [
        ratio(TIME, one, at_least=2),
        law(TIME, round_trips=4, at={"size": "1"}),
        bound(TIME, {"rtt": "10ms"}, at_least=1),
    ]
    requirements.check("mine", [*claims, predicted(TIME, one, expected=lambda run: 1 / 0)], SEVERAL)
