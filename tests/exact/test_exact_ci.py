"""The last step of the CI files of `slownet init`: a baseline, nothing changed, one per cent more work, one question more."""

import subprocess
from pathlib import Path

import pytest
import yaml
from needs_qemu import needs_qemu
from test_exact_lab import SLOWNET

from slownet.cli.init import CI, write

pytestmark = needs_qemu
ASKED = "ARTICLES = range(5)"
WORK = "        connection = http.client"


def script(ci, folder):
    """Return what the file's job does last, on a machine that has QEMU."""
    found = yaml.safe_load((folder / CI[ci]).read_text())
    if ci == "github":
        (job,) = found["jobs"].values()
        (text,) = (each["run"] for each in job["steps"] if each.get("name", "").startswith("Compare instructions"))
        return "\n".join(line for line in text.splitlines() if not line.startswith("sudo "))
    return "\n".join(line for line in found["slow-network"]["script"][5:])


class Job:
    """A project, and its last step."""

    def __init__(self, folder, ci):
        self.folder, self._ci = folder, ci
        write(folder, ci)
        (folder / "results").mkdir()
        self._bin = folder / "bin"
        self._bin.mkdir()
        (self._bin / "slownet").write_text(f'#!/bin/sh\nexec {" ".join(map(str, SLOWNET))} "$@"\n')
        (self._bin / "slownet").chmod(0o755)
        self._summary = folder / "summary.md"

    def run(self):
        """Run it as the runner does, in a checkout without earlier runs; return its status and the summary."""
        self._summary.write_text("")
        path = f"{self._bin}:/usr/local/bin:/usr/bin:/bin"
        words = f"rm -rf exact\n{script(self._ci, self.folder)}"
        environment = {"PATH": path, "HOME": str(Path.home()), "GITHUB_STEP_SUMMARY": str(self._summary)}
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, self._summary.read_text() + done.stdout + done.stderr

    def change(self, old, new):
        """Change the shop, and nothing else."""
        shop = self.folder / "shop.py"
        text = shop.read_text()
        assert old in text
        shop.write_text(text.replace(old, new))


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_a_regression_fails_the_job_and_nothing_changed_does_not(ci, tmp_path):
    job = Job(tmp_path / "shop", ci)
    status, said = job.run()
    assert status == 0, said
    (job.folder / "results" / "baseline.json").rename(job.folder / "baseline.json")
    status, said = job.run()
    assert status == 0, said
    assert "equal" in said
    job.change(WORK, f"        sum(range(2000))\n{WORK}")
    status, said = job.run()
    assert status == 1, said
    job.change("        sum(range(2000))\n", "")
    job.change(ASKED, "ARTICLES = range(6)")
    status, said = job.run()
    assert status == 1, said
    assert "one round trip more" in said
