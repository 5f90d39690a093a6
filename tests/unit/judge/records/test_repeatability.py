from slownet.hypotheses.catalogue import discover
from slownet.judge.records.charging import Charging
from slownet.judge.records.repeatability import SIMILAR_BY_CHANCE, SIMILAR_WITH_CPU_WORK, chance, has_own_programs, repeats
from slownet.services.wordpress import WordPress


def test_only_where_the_cpu_is_free_numbers_come_again_to_the_bit():
    assert repeats(Charging.FREE).code == "same"
    assert repeats(Charging.TIME).code == "similar with CPU time"
    assert repeats(Charging.WORK) == SIMILAR_WITH_CPU_WORK(part=0.003)
    assert repeats(Charging.REAL).code == "similar on the real clock"
    assert repeats(Charging.EXACT, "a program draws", own=True).code == "same on the exact clock"


def test_what_another_run_would_give_is_said_in_words():
    assert str(repeats(Charging.FREE)) == "the same numbers, bit for bit"
    assert str(repeats(Charging.WORK)).endswith("it differs by about 0.3 % from boot to boot")


def test_programs_that_slownet_does_not_know_may_draw_random_numbers():
    def mine():
        """Not of slownet."""

    assert repeats(Charging.FREE, own=True).code == "same if nothing is random"
    assert repeats(Charging.TIME, own=True).code == "similar with CPU time"
    assert has_own_programs(mine, None)
    assert has_own_programs(WordPress, mine)
    assert not has_own_programs(WordPress, None)
    assert not any(has_own_programs(*each.parts) for each in discover().values())


def test_a_program_with_a_randomness_of_its_own_is_named():
    assert repeats(Charging.FREE, chance(None, WordPress)) == SIMILAR_BY_CHANCE(chance=WordPress.chance)


def drawn(experiment):
    return experiment.chance or chance(*experiment.parts)


def test_every_experiment_of_which_runs_differ_says_so():
    chancy = {name for name, each in discover().items() if repeats(Charging.FREE, drawn(each)).code != "same"}
    parted = {"congestion_control", "loss_tolerance", "queue_sizing", "fairness"}
    assert {"client_delay", "database_delay", "nagle_proxy", "oltp", "replication", "sync_pipeline", *parted} <= chancy
    assert not chancy & {"nagle_patterns", "crafted_segments", "download", "packet_loss", "coordinated_omission"}


def test_spreads_are_known_of_metrics_that_claims_are_about():
    found = discover()
    measured = {name: each.spreads for name, each in found.items() if each.spreads}
    assert sorted(measured) == ["congestion_control", "fairness", "file_copy", "package_mirror", "queue_sizing", "replication"]
    for name, spreads in measured.items():
        claims, cells = found[name].judged_by, found[name].cells()
        assert {each.metric for each in spreads} <= {each.metric for each in claims}
        assert all(0 < each.relative < 0.05 for each in spreads)
        assert all(any(each.at.items() <= cell.items() for cell in cells) for each in spreads)
        assert repeats(Charging.FREE, drawn(found[name])).code == "similar by chance"
