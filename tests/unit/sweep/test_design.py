"""Which combinations of values are measured."""

import pytest

from slownet.hypotheses.experiment import experiment
from slownet.model.errors import SlownetError, SweepError
from slownet.sweep import sweeping
from slownet.sweep.factors import Design

FACTORS = {"rtt": tuple(f"{each}ms" for each in range(64)), "loss": tuple(f"{each}%" for each in range(64))}


@experiment(topology="two_hosts", vary={"rtt": ["0ms", "10ms"], "loss": ["0%"]})
def question(net, rtt, loss):
    """What?"""


@experiment(topology="two_hosts", cells=[{"rtt": "0ms"}, {"rtt": "5ms"}])
def listed(net, rtt):
    """What?"""


def test_the_grid_has_every_combination_in_order():
    found = list(Design.read("grid").cells({"rtt": ("0ms", "1ms"), "loss": ("0%", "1%")}))
    assert [tuple(each.values()) for each in found] == [("0ms", "0%"), ("0ms", "1%"), ("1ms", "0%"), ("1ms", "1%")]


def test_a_latin_hypercube_takes_each_of_as_many_values_once():
    found = list(Design.read("lhs:64").cells(FACTORS))
    for name, texts in FACTORS.items():
        assert sorted(each[name] for each in found) == sorted(texts)


def test_sobol_points_fill_every_sixteenth_alike():
    found = list(Design.read("sobol:64").cells(FACTORS))
    where = [(FACTORS["rtt"].index(each["rtt"]) // 16, FACTORS["loss"].index(each["loss"]) // 16) for each in found]
    assert {each: where.count(each) for each in where} == {(x, y): 4 for x in range(4) for y in range(4)}


@pytest.mark.parametrize("kind", ["random:20", "lhs:20", "sobol:16"])
def test_a_sample_is_the_same_for_the_same_seed_and_holds_no_cell_twice(kind):
    first, again, other = (list(Design.read(kind, seed).cells(FACTORS)) for seed in (1, 1, 2))
    assert first == again != other
    assert len({tuple(each.values()) for each in first}) == len(first)


def test_a_sample_of_a_coarse_grid_has_no_more_cells_than_the_grid():
    design = Design.read("random:1000")
    assert len(list(design.cells({"rtt": ("0ms", "1ms")}))) == 2 == design.size({"rtt": ("0ms", "1ms")})


@pytest.mark.parametrize("text", ["", "girg", "lhs", "lhs:0", "lhs:-3", "halton:3", "random:1.5", "grid:3"])
def test_an_unclear_sample_is_one_line(text):
    with pytest.raises(SweepError, match="unclear sample"):
        Design.read(text)


def test_sobol_takes_a_power_of_two():
    with pytest.raises(SweepError, match="sobol:128"):
        Design.read("sobol:100")


def test_other_factors_keep_the_experiments_values():
    assert sweeping.factors_of(question, {"loss": ("1%", "2%")}) == {"rtt": ("0ms", "10ms"), "loss": ("1%", "2%")}


@pytest.mark.parametrize(("vary", "said"), [({"rt": ("1ms",)}, "rtt"), ({"rtt": ("1ms", "10")}, "no unit")])
def test_a_factor_or_value_that_the_experiment_does_not_have(vary, said):
    with pytest.raises(SlownetError, match=said):
        sweeping.cells_of(question, vary, Design())


def test_listed_cells_are_selected_and_not_sampled():
    assert sweeping.cells_of(listed, {"rtt": ("5ms",)}, Design()) == [{"rtt": "5ms"}]
    with pytest.raises(SweepError, match="lists its cells"):
        sweeping.cells_of(listed, {}, Design.read("lhs:2"))
    with pytest.raises(SlownetError, match="no cell of rtt 7ms"):
        sweeping.cells_of(listed, {"rtt": ("7ms",)}, Design())


def test_a_million_cells_are_only_counted():
    many = {"rtt": tuple(f"{each}ms" for each in range(1000)), "loss": tuple(f"{each / 100}%" for each in range(1000))}
    with pytest.raises(SweepError, match=r"1,000,000 cells with 5 repetitions take about 1042 h on 2 labs.*--yes"):
        sweeping.check_size(question, many, Design(), 5, 2)
    sweeping.check_size(question, many, Design.read("sobol:1024"), 5, 2)
