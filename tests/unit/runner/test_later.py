"""What boots of an exact lab have in common, and what one is told later."""

import json
import os
import signal

from slownet.lab.exact import later
from slownet.runner.job import Job


def test_what_boots_have_in_common_has_nothing_of_one():
    first = Job([(0, 1, {"rtt": "0ms"})], boot=1, blocks=1, capture=["web"], aligned=True, queues=False)
    second = Job([(3, 2, {"rtt": "10ms"})], boot=2, blocks=2, capture=["web"])
    assert first.common() == second.common()
    assert first.common().capture == ["web"]
    assert first.common() != Job([], capture=["client"]).common()
    told = json.loads(json.dumps(first.to_json()))
    assert json.loads(json.dumps(Job.read(told).to_json())) == told


def test_the_first_process_is_asked_and_what_it_wrote_is_told_once(monkeypatch, tmp_path):
    asked = []

    def kill(process, number):
        asked.append((process, number))
        (tmp_path / "later").write_text("the job")

    monkeypatch.setattr(later, "FILE", tmp_path / "later")
    monkeypatch.setattr(os, "kill", kill)
    assert [later.told(), later.told()] == ["the job", "the job"]
    assert asked == [(1, signal.SIGUSR1)] * 2
    assert not (tmp_path / "later").exists()
