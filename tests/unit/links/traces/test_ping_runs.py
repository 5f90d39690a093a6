"""Logs of several programs, systems and languages; of several runs in one file."""

import pytest

from slownet.links.traces import pinglog
from slownet.model.errors import TraceError

IPUTILS = """PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
{lines}

--- 192.0.2.1 ping statistics ---
{sent} packets transmitted, {received} received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 20.0/30.0/40.0/6.0 ms
"""


def run(start, numbers, sent, clock=True):
    stamp = "[{at:.1f}] " if clock else ""
    line = stamp + "64 bytes from 192.0.2.1: icmp_seq={n} ttl=55 time={ms} ms"
    lines = "\n".join(line.format(at=start + n, n=n, ms=20 + n) for n in numbers)
    return IPUTILS.format(lines=lines, sent=sent, received=len(numbers))


MACOS = """PING example.org (192.0.2.1): 56 data bytes
64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=11.2 ms
Request timeout for icmp_seq 1
92 bytes from router.lan (192.168.1.1): Destination Host Unreachable
Vr HL TOS  Len   ID Flg  off TTL Pro  cks      Src      Dst
 4  5  00 5400 a1b2   0 0000  40  01 0000 192.168.1.7  192.0.2.1

Request timeout for icmp_seq 2
64 bytes from 192.0.2.1: icmp_seq=3 ttl=57 time=13.4 ms
ping: sendto: No route to host
^C
--- example.org ping statistics ---
5 packets transmitted, 2 packets received, 60.0% packet loss
round-trip min/avg/max/stddev = 11.200/12.300/13.400/1.100 ms
"""
MACOS6 = """PING6(56=40+8+8 bytes) 2001:db8::7 --> 2001:db8::1
16 bytes from 2001:db8::1, icmp_seq=0 hlim=57 time=11.2 ms
16 bytes from 2001:db8::1, icmp_seq=2 hlim=57 time=12.0 ms

--- 2001:db8::1 ping6 statistics ---
3 packets transmitted, 2 packets received, 33.3% packet loss
round-trip min/avg/max/std-dev = 11.200/11.600/12.000/0.400 ms
"""
ENGLISH = """
Pinging example.org [192.0.2.1] with 32 bytes of data:
Reply from 192.0.2.1: bytes=32 time=11ms TTL=57
Request timed out.
Reply from 192.168.1.7: Destination host unreachable.
Reply from 192.0.2.1: bytes=32 time<1ms TTL=57

Ping statistics for 192.0.2.1:
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),
Approximate round trip times in milli-seconds:
    Minimum = 1ms, Maximum = 11ms, Average = 6ms
"""
GERMAN = """
Ping wird ausgeführt für example.org [192.0.2.1] mit 32 Bytes Daten:
Antwort von 192.0.2.1: Bytes=32 Zeit=11ms TTL=57
Zeitüberschreitung der Anforderung.
Antwort von 192.0.2.1: Bytes=32 Zeit<1ms TTL=57

Ping-Statistik für 192.0.2.1:
    Pakete: Gesendet = 3, Empfangen = 2, Verloren = 1
    (33% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 1ms, Maximum = 11ms, Mittelwert = 6ms
"""
FRENCH = """
Envoi d\u2019une requête 'ping' sur example.org [192.0.2.1] avec 32 octets de données :
Réponse de 192.0.2.1 : octets=32 temps=11 ms TTL=57
Délai d\u2019attente de la demande dépassé.
Réponse de 192.0.2.1 : octets=32 temps<1ms TTL=57

Statistiques Ping pour 192.0.2.1:
    Paquets : envoyés = 3, reçus = 2, perdus = 1 (perte 33%),
Durée approximative des boucles en millisecondes :
    Minimum = 1ms, Maximum = 11ms, Moyenne = 6ms
"""
SPANISH = """
Haciendo ping a example.org [192.0.2.1] con 32 bytes de datos:
Respuesta desde 192.0.2.1: bytes=32 tiempo=11ms TTL=57
Tiempo de espera agotado para esta solicitud.
Respuesta desde 192.0.2.1: bytes=32 tiempo<1m TTL=57

Estadísticas de ping para 192.0.2.1:
    Paquetes: enviados = 3, recibidos = 2, perdidos = 1
    (33% perdidos),
Tiempos aproximados de ida y vuelta en milisegundos:
    Mínimo = 1ms, Máximo = 11ms, Media = 6ms
"""
IPV6 = """
Pinging 2001:db8::1 with 32 bytes of data:
Reply from 2001:db8::1: time=11ms
Request timed out.
Reply from 2001:db8::1: time<1ms

Ping statistics for 2001:db8::1:
    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),
Approximate round trip times in milli-seconds:
    Minimum = 1ms, Maximum = 11ms, Average = 6ms
"""


def test_two_runs_are_both_read_with_their_times():
    log = pinglog.parse(run(1_700_000_000, range(1, 21), 20) + run(1_700_000_600, range(2, 21, 2), 20))
    assert (len(log.pings), sum(log.lost)) == (40, 10)
    assert log.lost[:20] == [False] * 20
    assert log.lost[20:] == [True, False] * 10
    assert log.pings[20].at == pytest.approx(600, abs=0.01)
    assert log.interval == pytest.approx(1, abs=0.01)


def test_runs_without_clocks_follow_each_other():
    log = pinglog.parse(run(0, range(1, 4), 3, clock=False) + run(0, [1, 3], 3, clock=False), interval=0.5)
    assert [each.at for each in log.pings] == [0, 0.5, 1, 1.5, 2, 2.5]
    assert log.lost == [False, False, False, False, True, False]


def test_a_run_without_an_answer_counts():
    text = run(0, range(1, 4), 3, clock=False) + IPUTILS.format(lines="", sent=5, received=0)
    assert sum(pinglog.parse(text).lost) == 5


def test_runs_that_are_put_together_without_their_first_lines():
    text = "".join(each.partition("\n")[2] for each in (run(100, [1, 2], 2), run(200, [1, 2, 3], 3)))
    assert [each.at for each in pinglog.parse(text).pings] == pytest.approx([0, 1, 100, 101, 102], abs=0.01)


@pytest.mark.parametrize(
    ("text", "lost", "rtts"),
    [
        (MACOS, [False, True, True, False, True], [0.0112, 0.0134]),
        (MACOS6, [False, True, False], [0.0112, 0.012]),
        (ENGLISH, [False, True, True, False], [0.011, 0.001]),
        (GERMAN, [False, True, False], [0.011, 0.001]),
        (FRENCH, [False, True, False], [0.011, 0.001]),
        (SPANISH, [False, True, False], [0.011, 0.001]),
        (IPV6, [False, True, False], [0.011, 0.001]),
    ],
    ids=["macOS", "macOS-IPv6", "English", "German", "French", "Spanish", "Windows-IPv6"],
)
def test_systems_and_languages(text, lost, rtts):
    log = pinglog.parse(text)
    assert (log.lost, log.rtts) == (lost, pytest.approx(rtts))
    again = pinglog.parse(text + text)
    assert again.lost == lost * 2


def test_the_summary_of_windows_must_confirm_the_lines():
    with pytest.raises(TraceError, match=r"3 pings and 2 answers in the summary, 4 and 2 above it, home\.txt line 9"):
        pinglog.parse(GERMAN.replace("Antwort", "Etwas anderes\nAntwort", 1), "home.txt")
    with pytest.raises(TraceError, match=r"'something' is not a line of Windows's ping, home\.txt line 12"):
        pinglog.parse(ENGLISH + "something\n", "home.txt")


FPING = """[1700000000.02000] 192.0.2.1 : [0], 64 bytes, 20.0 ms (20.0 avg, 0% loss)
[1700000001.02200] 192.0.2.1 : [1], 64 bytes, 22.0 ms (21.0 avg, 0% loss)
[1700000002.50000] 192.0.2.1 : [2], timed out (21.0 avg, 33% loss)
[1700000003.02100] 192.0.2.1 : [3], 64 bytes, 21.0 ms (21.0 avg, 25% loss)

192.0.2.1 : xmt/rcv/%loss = 4/3/25%, min/avg/max = 20.0/21.0/22.0
"""


def test_fping():
    log = pinglog.parse(FPING)
    assert (log.lost, log.rtts) == ([False, False, True, False], [0.02, 0.022, 0.021])
    assert [each.at for each in log.pings] == pytest.approx([0, 1, 2, 3])
    with pytest.raises(TraceError, match=r"2 hosts, 192.0.2.1, 192.0.2.2, x: a log is one host's: grep \^HOST"):
        pinglog.parse(FPING + FPING.replace("192.0.2.1", "192.0.2.2"), "x")
    with pytest.raises(TraceError, match=r"'hello' is not a line of fping's, x line 7"):
        pinglog.parse(FPING + "hello\n", "x")
