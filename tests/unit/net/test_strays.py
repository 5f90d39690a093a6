"""Which processes on the hosts of a network a test left running."""

from slownet.net.fingerprint import Process, among

SERVER = 75
PROCESSES = {
    74: Process(session=74, parent=23),  # what started the server, outside these namespaces
    SERVER: Process(session=SERVER, parent=74),
    110: Process(session=SERVER, parent=SERVER),
    111: Process(session=111, parent=SERVER),  # of a connection of PostgreSQL
    112: Process(session=111, parent=111),
    120: Process(session=23, parent=23),
    121: Process(session=121, parent=120),
    122: Process(session=122, parent=1),
}


def test_a_server_s_children_belong_to_it_also_in_a_session_of_their_own():
    assert among(PROCESSES, sessions={SERVER}, kept={74}) == [120, 121, 122]


def test_children_of_a_kept_process_are_strays():
    assert among(PROCESSES, sessions={SERVER, 74}, kept={120}) == [121, 122]


def test_processes_that_seem_to_descend_from_each_other_are_strays():
    """Numbers are read one after the other, and may be used again meanwhile."""
    loop = {5: Process(session=5, parent=6), 6: Process(session=6, parent=5)}
    assert among(loop, sessions={7}, kept=()) == [5, 6]
