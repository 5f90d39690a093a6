"""Clients on hosts, and the history of what they asked, while something is broken."""

import socket
import time

import pytest

from slownet import Command, ExperimentError, Recorder
from slownet.lab.host import native

PORT = 7007
SERVER = f"""
import socket
server = socket.create_server(("", {PORT}))
while True:
    connection, _ = server.accept()
    connection.sendall(connection.recv(100))
    connection.close()
"""
LATE_S = 0.05 if native.cpu_is_free() else 0.5


def ask(address, text):
    with socket.create_connection((address, PORT), timeout=0.4) as connection:
        connection.sendall(text.encode())
        return connection.recv(100).decode()


def test_what_clients_see_of_a_cut_and_a_crash(net, tmp_path):
    def asks(client, address):
        for number in client.every("200ms", "2s"):
            client.do("echo", str(number), lambda number=number: ask(address, str(number)))

    address = net["web"].IP()
    with Command(net["web"], ["python3", "-c", SERVER], tmp_path, name="echo", port=PORT) as echo:
        steps = "cut client from web at 0.5 s; heal at 1 s; kill web at 1.3 s; start web at 1.5 s"
        with net.faults(steps, echo) as broken:
            recorder = Recorder(broken)
            recorder.client(net["client"], asks, address)
            recorder.client(net["db"], asks, address)
            recorder.wait()
        history = recorder.history
    assert [(each.op, each.value) for each in history.faults] == [
        ("cut", "client from web"), ("heal", None), ("kill", "web"), ("start", "web"),
    ]  # fmt: skip
    assert history.read(history.to_text()) == history
    cut_off = [each for each in history.operations if each.process == 0 and 0.5e9 + LATE_S * 1e9 < each.begin < 0.6e9]
    assert [each.type for each in cut_off] == ["info"] * len(cut_off)
    others = [each for each in history.operations if each.process == 1 and each.begin < 1.2e9]
    assert [each.type for each in others] == ["ok"] * len(others)
    assert len(others) >= 5
    refused = [each for each in history.operations if each.type == "fail"]
    assert refused
    assert all(1.3e9 <= each.begin <= (1.5 + LATE_S) * 1e9 for each in refused)
    metrics = recorder.metrics()
    assert metrics["acknowledged_operations"]["mean"] >= len(others)
    assert metrics["failed_operations"]["mean"] == len(refused)
    assert recorder.files["history.jsonl"] == history.to_text()


def test_the_first_error_of_a_client_is_raised(net):
    def wrong(client):
        client.do("odd", 1, lambda: 1 / 0)

    recorder = Recorder()
    recorder.client(net["client"], wrong)
    with pytest.raises(ExperimentError, match="the operation 'odd' raises ZeroDivisionError"):
        recorder.wait()

    def unspeakable(client):
        client.do("odd", object(), lambda: None)

    recorder = Recorder()
    recorder.client(net["client"], unspeakable)
    with pytest.raises(ExperimentError, match="a value of the operation 'odd' is not JSON"):
        recorder.wait()


def test_a_period_is_kept_and_answers_of_a_system_are_named(net):
    class Busy(Exception):  # noqa: N818
        pass

    def calls(client):
        for number in client.every("100ms", "1s"):
            if number == 2:
                time.sleep(0.35)
            client.do("call", number, lambda: (_ for _ in ()).throw(Busy()), failed=(Busy,))

    recorder = Recorder()
    recorder.client(net["client"], calls)
    recorder.wait()
    begins = [each.begin / 1e9 for each in recorder.history.operations]
    assert {each.type for each in recorder.history.operations} == {"fail"}
    assert begins[:2] == pytest.approx([0, 0.1], abs=LATE_S)
    assert begins[2:4] == pytest.approx([0.55, 0.6], abs=LATE_S)
