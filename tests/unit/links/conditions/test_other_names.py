"""A field of a condition by another program's name is answered with ours."""

import pytest

from slownet.links.conditions.link import WORDS, Condition
from slownet.links.conditions.other_names import field
from slownet.model.errors import ConditionError


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("bw", "did you mean 'rate'?"),
        ("Bandwidth", "did you mean 'rate'?"),
        ("max_queue_size", "did you mean 'queue'?"),
        ("packet-loss", "did you mean 'loss'?"),
        ("latency", "did you mean 'delay', which is one-way, or 'rtt'?"),
        ("ping", "did you mean 'rtt'?"),
        ("jiter", "did you mean 'jitter'?"),
    ],
)
def test_a_field_by_another_name(name, fix):
    assert field(name, WORDS) == fix
    with pytest.raises(ConditionError, match=f"no field '{name}'") as caught:
        Condition.parse(**{name: "10ms"})
    assert caught.value.fix == fix
