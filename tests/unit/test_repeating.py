from slownet.experiment import discover
from slownet.records.repeating import PARTED, repeats
from slownet.services.wordpress import WordPress


def test_only_where_the_cpu_is_free_numbers_come_again_to_the_bit():
    assert repeats("virtual", "inf", "mine") == "the same numbers, bit for bit"
    assert "CPU's time is charged" in repeats("virtual", 4, "mine")
    assert "real clock" in repeats("real", None, "mine")


def test_a_program_with_a_randomness_of_its_own_is_named():
    assert repeats("virtual", "inf", "mine", WordPress) == f"near, not the same: {WordPress.chance}"


def test_every_experiment_of_which_runs_differ_says_so():
    found = discover()
    chancy = {name for name, each in found.items() if "bit for bit" not in repeats("virtual", "inf", name, each.service)}
    assert {"client_delay", "database_delay", "nagle_proxy", "oltp", "replication", "sync_pipeline", *PARTED} <= chancy
    assert set(PARTED) <= set(found)
    assert not chancy & {"nagle_patterns", "crafted_segments", "download", "packet_loss", "coordinated_omission"}
