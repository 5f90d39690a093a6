"""What is wrong with a tool's arguments is one line before a program runs."""

import pytest

from slownet.model.errors import SlownetError
from slownet.tools.ab import ab
from slownet.tools.constant_rate import constant_rate
from slownet.tools.curl import curl
from slownet.tools.fetch import fetch
from slownet.tools.iperf3 import iperf3
from slownet.tools.oha import oha
from slownet.tools.ping import ping
from slownet.tools.sysbench import oltp
from slownet.tools.wget import wget
from slownet.tools.wrk import wrk, wrk2

URL = "http://10.0.0.2/"


class Host:
    name = "client"

    def IP(self) -> str:  # noqa: N802
        return "10.0.0.1"

    def popen(self, *args, **kwargs):
        raise AssertionError("nothing may be started here")


MISTAKES = {
    "requests is '3', in ab: give a number": lambda: ab(Host(), URL, requests="3"),
    "requests is 3.5, in ab: give a whole number": lambda: ab(Host(), URL, requests=3.5),
    "concurrency is 0, in ab: give more than 0": lambda: ab(Host(), URL, concurrency=0),
    "timeout is '3s', in ab: give a number": lambda: ab(Host(), URL, timeout="3s"),
    "interval is '200ms', in ping: give a number": lambda: ping(Host(), "10.0.0.2", interval="200ms"),
    "count is 0, in ping: give more than 0": lambda: ping(Host(), "10.0.0.2", count=0),
    "seconds is '1s', in iperf3: give a number": lambda: iperf3(Host(), Host(), seconds="1s"),
    "'10.0.0.2' is not a host of a network, in a tool: give one, such as": lambda: iperf3(Host(), "10.0.0.2"),
    "seconds is 0.5, in wrk: give a whole number": lambda: wrk(Host(), URL, seconds=0.5),
    "rate is '10/s', in wrk2: give a number": lambda: wrk2(Host(), URL, rate="10/s", seconds=1),
    "rate is '5', in a load: give a number": lambda: constant_rate(Host(), URL, rate="5", seconds=1),
    "seconds is '1s', in a load: give a number": lambda: oha(Host(), URL, rate=5, seconds="1s"),
    "requests is 0, in fetch: give more than 0": lambda: fetch(Host(), URL, requests=0),
    "pause is -1, in fetch: give more than 0": lambda: fetch(Host(), URL, pause=-1),
    "curl was given the text 'http://10.0.0.2/', host 'client': give a list": lambda: curl(Host(), URL),
    "rows is '9', in oltp: give a number": lambda: oltp(Host(), "10.0.0.2", rows="9"),
    "the database is '10.0.0.2', no Account, in oltp: give OltpDatabase(...).account": lambda: oltp(Host(), "10.0.0.2"),
    "the database is of type Host, no Account, in oltp": lambda: oltp(Host(), Host()),
    "no HTTP version '4', http: choose from 1.1, 2, 3": lambda: fetch(Host(), URL, http=4),
    "HTTP/3 is always encrypted, http: give an https URL": lambda: fetch(Host(), URL, http="3"),
    "no TLS version '1.1', tls: did you mean": lambda: fetch(Host(), "https://10.0.0.2/", tls=1.1),
    "'client' is not a host of a network, in a tool: give one, such as net[\"client\"]": lambda: wget("client", URL),
    "a dict is not a host of a network": lambda: ab({}, URL),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_one_line(what):
    with pytest.raises(SlownetError) as caught:
        MISTAKES[what]()
    assert str(caught.value).startswith(what)
