"""What would give the image other bytes each time it is built is not in it, or was written at a fixed date."""

from pathlib import Path

import pytest

from slownet.lab.build import image
from slownet.lab.host import native

SITE = Path("/var/lib/slownet/wordpress")


@pytest.mark.skipif(not native.inside_lab(), reason="a native machine keeps what its packages wrote")
def test_what_packages_and_servers_wrote_is_gone_or_has_a_fixed_date():
    assert [path for pattern in image.UNUSED for path in Path("/").glob(pattern.lstrip("/"))] == []
    written = [path for name in ("mariadb", "opcache") for path in (SITE / name).rglob("*")]
    assert len(written) > 300
    assert {path.lstat().st_mtime for path in [*written, SITE / "stamp"]} == {image.FILES_UNTIL}
