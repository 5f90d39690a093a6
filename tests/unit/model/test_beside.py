"""A function runs beside a block, and no longer."""

import pytest

from slownet.model.beside import beside


def test_it_runs_beside_the_block_and_is_over_behind_it():
    seen = []

    def work(ended):
        seen.append("begin")
        assert ended.wait(60)
        seen.append("end")

    with beside(work):
        assert "end" not in seen
    assert seen == ["begin", "end"]


def test_it_is_over_behind_an_error_too():
    seen = []
    with pytest.raises(ValueError, match="of the block"), beside(lambda ended: seen.append(ended.wait(60))):
        raise ValueError("of the block")
    assert seen == [True]
