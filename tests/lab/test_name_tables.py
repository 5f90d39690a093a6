"""The last step of the WordPress site: each table's definition gets a version of its name; views have none; a fault ends it."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

PROVISION = (Path(__file__).parents[2] / "lib/slownet/lab/build/provision").read_text()
TABLE = b"\xfe\x01".ljust(64, b"\0") + b"\0\x10" + b"0123456789abcdef" + b"the rest"
VIEW = b"TYPE=VIEW\nquery=select 1\n"


@pytest.fixture
def name(tmp_path):
    """Name the tables of a site: name(folder/file=content) -> the completed process."""
    (function,) = re.findall(r"^name_tables\(\) \{.*?^\}", PROVISION, re.MULTILINE | re.DOTALL)

    def run(**definitions):
        for file, content in definitions.items():
            (tmp_path / "mariadb/mysql").mkdir(parents=True, exist_ok=True)
            (tmp_path / f"mariadb/mysql/{file}.frm").write_bytes(content)
        script = f'set -eu\ndie() {{ echo "died: $*" >&2; exit 2; }}\nsite={tmp_path}\n{function}\nname_tables\necho named'
        return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)

    return run


def test_tables_before_and_after_a_view_have_versions_of_their_names(name, tmp_path):
    done = name(a=TABLE, user=VIEW, z=TABLE)
    assert (done.returncode, done.stdout) == (0, "named\n"), done.stderr
    for each in "az":
        found = (tmp_path / f"mariadb/mysql/{each}.frm").read_bytes()
        assert found == TABLE[:66] + hashlib.md5(f"{each}.frm".encode()).digest() + TABLE[82:]
    assert (tmp_path / "mariadb/mysql/user.frm").read_bytes() == VIEW


def test_a_definition_of_another_kind_ends_it(name):
    done = name(a=TABLE, b=TABLE[:64] + b"\0\x08" + TABLE[66:])
    assert done.returncode == 2
    assert "b.frm has no version" in done.stderr
    assert "died: " in done.stderr
