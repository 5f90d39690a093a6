import pytest

from slownet.cli import field
from slownet.model.errors import SlownetError


def test_where_no_run_can_be_kept_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(field, "measure", lambda *words, **named: pytest.fail("it was measured, and would be lost"))
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(
        SlownetError, match=r"^cannot make a run directory, Not a directory, in .*runs/more: work in a folder that"
    ):
        field.measure_and_show("http://127.0.0.1/", 3, "500ms", "10s", tmp_path / "runs" / "more", False, "1.1", "")
