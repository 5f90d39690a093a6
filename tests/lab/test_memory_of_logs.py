"""The databases' logs of zeros take no memory of the lab, neither where they are kept nor in the image that they come from."""

import ctypes
import mmap
from pathlib import Path

from slownet import ClientWebDb
from slownet.services.mariadb import TEMPLATE, copy_sparse
from slownet.services.postgresql import PostgreSQL

TOPOLOGY = ClientWebDb
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]


def in_memory(path):
    """The fraction of a file's pages that are in memory."""
    with path.open("rb") as file:
        memory = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    pages = -(-len(memory) // mmap.PAGESIZE)
    found = ctypes.create_string_buffer(pages)
    if LIBC.mincore(ctypes.addressof(ctypes.c_char.from_buffer(memory)), len(memory), found):
        raise OSError(ctypes.get_errno(), "mincore")
    return sum(byte & 1 for byte in found.raw) / pages


def test_mariadb_is_copied_without_leaving_the_zeros_of_its_log_in_memory(tmp_path):
    copy_sparse(TEMPLATE, tmp_path / "data")
    log = TEMPLATE / "ib_logfile0"
    assert log.stat().st_size == 32 << 20
    assert in_memory(log) < 0.1


def test_postgresql_has_a_log_as_large_as_what_was_written(net, tmp_path):
    with PostgreSQL(net["db"], tmp_path) as database:
        (segment,) = Path(database.state, "data/pg_wal").glob("0*")
        file = segment.stat()
    assert file.st_blocks * 512 < file.st_size == 16 << 20
