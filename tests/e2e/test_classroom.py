"""`slownet check bundle` and `grade`: Gradescope's autograder in its documented layout, and students' code in a lab."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
import wheels

EXERCISES = Path(__file__).parents[2] / "examples/exercises"
RUNS = 2
METADATA = {
    "id": 123456,
    "created_at": "2018-07-01T14:22:32.365935-07:00",
    "assignment": {"due_date": "2018-07-01T14:00:00.000000-07:00", "late_due_date": None},
    "users": [{"email": "student@example.com", "id": 1234, "name": "Student User"}],
}
TESTS = """\
import sys
import time
from pathlib import Path


def test_it_answers_from_another_host(net):
    server = net["web"].popen(["python3", "submission/server.py"])
    time.sleep(1)
    ask = f"import socket; s = socket.create_connection(('{net['web'].IP()}', 7000)); s.sendall(b'ping'); print(s.recv(9))"
    try:
        assert net["client"].cmd(f'timeout 5 python3 -c "{ask}"').strip() == "b'pong'"
    finally:
        server.kill()


def test_it_has_a_name():
    sys.path.insert(0, "submission")
    import server_name

    assert server_name.NAME
"""
SERVER = """\
import socket
listening = socket.create_server(("", 7000))
while True:
    peer, _ = listening.accept()
    peer.recv(9)
    peer.sendall(b"pong")
    peer.close()
"""


@pytest.fixture(scope="module")
def autograder(tmp_path_factory):
    """Gradescope's /autograder in a folder, with what its setup.sh installed from a wheel, and its environment."""
    folder = tmp_path_factory.mktemp("gradescope")
    wheel = wheels.made(folder)
    exercises = [EXERCISES / "01_one_way_and_back.toml", EXERCISES / "03_a_larger_page.toml"]
    words = [sys.executable, "-m", "slownet.cli", "check", "bundle", *exercises, "--key", EXERCISES / "teacher/key.toml"]
    subprocess.run([*words, "--slownet", wheel, "--late", "50%", "--out", folder / "bundle.zip"], check=True)
    root = folder / "autograder"
    for each in ("source", "submission", "results"):
        (root / each).mkdir(parents=True)
    with zipfile.ZipFile(folder / "bundle.zip") as archive:
        archive.extractall(root / "source")
        modes = {each.filename: each.external_attr >> 16 for each in archive.infolist()}
    assert {name for name, mode in modes.items() if mode & 0o111} == {"setup.sh", "run_autograder"}
    shutil.copy(root / "source/run_autograder", root)
    (root / "run_autograder").chmod(0o755)
    (root / "submission_metadata.json").write_text(json.dumps(METADATA))
    # what slownet depends on is not fetched, but found where this test has it
    found = {"PIP_NO_DEPS": "1", "PYTHONPATH": sysconfig.get_path("purelib"), "AUTOGRADER_ROOT": str(root)}
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", **found}
    done = subprocess.run(["bash", root / "source/setup.sh"], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("slownet ")
    return root, variables


def test_it_gives_the_same_marks_in_every_run_beside_load(autograder):
    root, variables = autograder
    (root / "submission/answers.toml").write_text(
        "[01_one_way_and_back]\nexpected = '40ms'\n[03_a_larger_page]\nround_trips = 9\n"
    )
    results = root / "results/results.json"
    load = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    found = set()
    try:
        for _ in range(RUNS):
            results.unlink(missing_ok=True)
            subprocess.run([root / "run_autograder"], cwd=root, env=variables, check=True)
            found.add(results.read_text())
    finally:
        load.kill()
        load.wait()
    assert len(found) == 1
    marks = json.loads(found.pop())
    assert (marks["score"], marks["output"]) == (0.5, "late: it keeps 50% of its points")
    assert [(each["score"], each["output"]) for each in marks["tests"]] == [(1.0, "40ms: right"), (0.0, "9: wrong")]


@pytest.mark.parametrize("text", ["not TOML", "[99_unknown]", "\x00", "[01_one_way_and_back]\nexpected = [[[]]]"])
def test_a_bad_submission_has_no_points_and_a_line(autograder, text):
    root, variables = autograder
    (root / "submission/answers.toml").write_text(text)
    subprocess.run([root / "run_autograder"], cwd=root, env=variables, check=True)
    marks = json.loads((root / "results/results.json").read_text())
    assert marks["score"] == 0
    assert all(each["output"] and "\n" not in each["output"] for each in marks["tests"])


def test_code_is_judged_in_a_lab(built, tmp_path):
    (tmp_path / "test_server.py").write_text(TESTS)
    (tmp_path / "key.toml").write_text("[p.answers.x]\nlow = 1\n")

    def grade(name, limit="200s", **files):
        (tmp_path / name).mkdir()
        for each, text in files.items():
            (tmp_path / name / f"{each}.py").write_text(text)
        words = [sys.executable, "-m", "slownet.cli", "check", "grade", name, "--key", "key.toml", "--memory", "512"]
        words += ["--test", "test_server.py", "--limit", limit]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        lines = done.stdout.splitlines()
        assert len(lines) == 4
        return lines[1:3]

    assert grade("good", server=SERVER, server_name="NAME = 'x'") == [
        "1 of 1  test_server.test_it_answers_from_another_host: passed",
        "1 of 1  test_server.test_it_has_a_name: passed",
    ]
    answers, name = grade("bad", server="this is not Python(", server_name="this neither(")
    assert answers.startswith("0 of 1  test_server.test_it_answers_from_another_host: ")
    assert name.startswith("0 of 1  test_server.test_it_has_a_name: ")
    assert "SyntaxError" in name
    killed = grade("killing", server=SERVER, server_name="import os\nos.system('rm -rf --no-preserve-root /; kill -9 -1')")
    assert {each.partition(": ")[2] for each in killed} == {"the tests ended without a result"}
    endless = grade("endless", limit="5s", server=SERVER, server_name="while True: pass")
    assert {each.partition(": ")[2] for each in endless} == {"not done in 5 s"}
