"""What is wrong with the arguments of services is one line when they are made."""

from types import SimpleNamespace

import pytest

from slownet.containers.container import Container
from slownet.containers.oci_bundle import Mount
from slownet.model.errors import ExperimentError, ServiceError
from slownet.reproductions.protocols import GtlsServer
from slownet.services.files import FileServer, StaticPage
from slownet.services.https import HttpsServer
from slownet.services.mariadb import MariaDB
from slownet.services.memcached import Memcached
from slownet.services.names import NameServer
from slownet.services.nginx import Nginx
from slownet.services.oltp import OltpDatabase
from slownet.services.php_fpm import PhpFpm
from slownet.services.postgresql import PostgreSQL
from slownet.services.readiness import Command, http
from slownet.services.redis import Redis
from slownet.services.unbound import Unbound
from slownet.services.varnish import Varnish
from slownet.services.wordpress import WordPress

HOST = SimpleNamespace(name="web", IP=lambda: "10.0.0.2")


class Net:
    def __getitem__(self, name):
        if name != "web":
            raise ExperimentError(f"no host '{name}' in Star", fix="choose from hub, web")
        return HOST


MISTAKES = {
    "options is 'max_connections=50' instead of a list of texts, PostgreSQL: write options=[\"max_connections=50\"]": (
        lambda: PostgreSQL(HOST, options="max_connections=50")
    ),
    "options is a dict instead of a list of texts, PostgreSQL:": lambda: PostgreSQL(HOST, options={"max_connections": 50}),
    "options is None instead of a list of texts, PostgreSQL:": lambda: PostgreSQL(HOST, options=None),
    "options is '--maxmemory 50mb' instead of a list": lambda: Redis(HOST, "logs", options="--maxmemory 50mb"),
    "options has a list instead of a text, Redis:": lambda: Redis(HOST, "logs", options=[["--maxmemory", "50mb"]]),
    "options is '--max-connections=50' instead of a list": lambda: MariaDB(HOST, "logs", options="--max-connections=50"),
    "options is 'single-request' instead of a list": lambda: NameServer(HOST, options="single-request"),
    "no option 'single-requst' of resolv.conf(5), NameServer: did you mean 'single-request'?": (
        lambda: NameServer(HOST, options=["single-requst"])
    ),
    "aliases has a list as 'shop', instead of a text": lambda: NameServer(HOST, aliases={"shop": ["web"]}),
    "aliases is 'shop' instead of a mapping": lambda: NameServer(HOST, aliases="shop"),
    "the alias 'my shop' is not a name, NameServer": lambda: NameServer(HOST, aliases={"my shop": "web"}),
    "ttl is '1m', NameServer: give whole seconds as a number": lambda: NameServer(HOST, ttl="1m"),
    "ttl is -1, NameServer": lambda: NameServer(HOST, ttl=-1),
    "directives is 'gzip on' instead of a list of texts, Nginx": lambda: Nginx(HOST, "logs", root="/", directives="gzip on"),
    "variables is a list instead of a mapping, PhpFpm": lambda: PhpFpm(HOST, "logs", variables=["A=1"]),
    "70000 is not a port, Redis: give a number from 1 to 65535": lambda: Redis(HOST, "logs", port=70000),
    "'x' is not a port, Memcached": lambda: Memcached(HOST, "logs", port="x"),
    "0 is not a port, Varnish": lambda: Varnish(HOST, "logs", behind="10.0.0.1", port=0),
    "'http' is not a port, Command": lambda: Command(HOST, "true", port="http"),
    'no closing quotation in "sh -c \'echo", Command': lambda: Command(HOST, "sh -c 'echo"),
    "the program is None instead of a list of texts, Command": lambda: Command(HOST, None),
    "the program has a list instead of a text, Command": lambda: Command(HOST, ["python3", ["-m", "http.server"]]),
    "env is a list instead of a mapping, Command: write env=": lambda: Command(HOST, "true", env=["A=1"]),
    "env has None as 'A', instead of a text, Command": lambda: Command(HOST, "true", env={"A": None}),
    "timeout is '3s', Command: give seconds as a number: timeout=60": lambda: Command(HOST, "true", timeout="3s"),
    "ready is the function http itself, Command: give http": lambda: Command(HOST, "true", port=80, ready=http),
    "ready is True, Command": lambda: Command(HOST, "true", ready=True),
    "'a/b' cannot begin the name of a log, Command": lambda: Command(HOST, "true", name="a/b"),
    "'health' is not a path of a page, http(): write it as in a URL": lambda: http("health"),
    "'/a b' is not a path of a page": lambda: http("/a b"),
    "directory is 6380, Redis: give the path of a folder": lambda: Redis(HOST, 6380),
    "cwd is 5, Command: give the path of a folder": lambda: Command(HOST, "true", cwd=5),
    "5 cannot begin the name of a log, Command": lambda: Command(HOST, "true", name=5),
    "template is 3, MariaDB: give the path of a folder": lambda: MariaDB(HOST, template=3),
    "there is no folder to serve, Nginx: name that of the pages": lambda: Nginx(HOST, root=None),
    'a SimpleNamespace is not a network, StaticPage: give the network, and the host\'s name: StaticPage(net, on="web")': (
        lambda: StaticPage(HOST)
    ),
    "'web' is not a network, FileServer: give the network": lambda: FileServer("web"),
    "no host 'server' in Star, OltpDatabase: choose from hub, web, and name it: OltpDatabase(net, on=\"web\")": (
        lambda: OltpDatabase(Net())
    ),
    "length is '612', StaticPage: give whole bytes as a number: length=612": lambda: StaticPage(Net(), on="web", length="612"),
    "length is -1, StaticPage: give whole bytes": lambda: StaticPage(Net(), on=HOST, length=-1),
    "files is a list instead of a mapping, HttpsServer: write files=": lambda: HttpsServer(HOST, files=["page"]),
    "the file 'page' is '1kB', HttpsServer: write files=": lambda: HttpsServer(HOST, files={"page": "1kB"}),
    "the file 'page' is -1, GtlsServer: write files=": lambda: GtlsServer(HOST, files={"page": -1}),
    "'/etc/page' is not a name of a file in the server's one folder": lambda: HttpsServer(HOST, files={"/etc/page": 1}),
    "certificate_bytes is '4k', HttpsServer": lambda: HttpsServer(HOST, files={}, certificate_bytes="4k"),
    "records of 'page.example' is '10.0.0.2' instead of a list of texts, Unbound: write records=": (
        lambda: Unbound(HOST, records={"page.example": "10.0.0.2"})
    ),
    "records is a list instead of a mapping, Unbound": lambda: Unbound(HOST, records=["page.example"]),
    "'page example' is not a name, Unbound": lambda: Unbound(HOST, records={"page example": ["10.0.0.2"]}),
    "'db' is not an IP address, Unbound: give a host's, host.IP()": lambda: Unbound(HOST, records={"page.example": ["db"]}),
    "forward is '10.0.0.2' instead of a list of texts, Unbound: write forward=": lambda: Unbound(HOST, forward="10.0.0.2"),
    "forward has 1 texts instead of two, Unbound": lambda: Unbound(HOST, forward=("10.0.0.2",)),
    "forward has a SimpleNamespace instead of a text, Unbound": lambda: Unbound(HOST, forward=(HOST, "TLS")),
    "unbound does not ask over 'tls', Unbound: did you mean 'TLS'?": lambda: Unbound(HOST, forward=("10.0.0.2", "tls")),
    "records and forward exclude each other, Unbound: give one": (
        lambda: Unbound(HOST, records={"page.example": ["10.0.0.2"]}, forward=("10.0.0.2", "TLS"))
    ),
    "ttl is '1m', Unbound: give whole seconds": lambda: Unbound(HOST, ttl="1m"),
    "status is '404', http(): give numbers: status=404": lambda: http("/", status="404"),
    "'http' is not a port, http()": lambda: http("/", port="http"),
    "the image is None, Container: give a name that slownet lab image list shows": lambda: Container(HOST, None),
    "the image is of type int, Container": lambda: Container(HOST, 5),
    "env is a list instead of a mapping, Container: write env=": lambda: Container(HOST, "shop:1", env=["A=1"]),
    "mounts is not a list of mounts, Container: write mounts=[Mount(": lambda: Container(HOST, "shop:1", mounts=["./data:/x"]),
    "mounts is not a list of mounts, Container: ": lambda: Container(HOST, "shop:1", mounts=Mount("/tmp", "/x")),
    "the limit 'nofile' is '10', Container: write limits=": lambda: Container(HOST, "shop:1", limits={"nofile": "10"}),
    "limits is a list instead of a mapping, Container": lambda: Container(HOST, "shop:1", limits=["nofile"]),
    "groups is 'audio' instead of a list of texts, Container": lambda: Container(HOST, "shop:1", groups="audio"),
    "capabilities is 'ALL' instead of a list of texts, Container": lambda: Container(HOST, "shop:1", capabilities="ALL"),
    "stop_s is '1s', Container: give seconds": lambda: Container(HOST, "shop:1", stop_s="1s"),
    "behind is 'http://10.0.0.3/', Varnish: give the backend's host": lambda: Varnish(HOST, behind="http://10.0.0.3/"),
    "behind is '10.0.0.3:80', Varnish": lambda: Varnish(HOST, behind="10.0.0.3:80"),
    "behind is a int, Varnish": lambda: Varnish(HOST, behind=5),
    "a SimpleNamespace is not a network, WordPress: give the network": lambda: WordPress(HOST),
    "no host 'client' in Star, WordPress: choose from hub, web, and name it: WordPress(net, client=\"web\")": (
        lambda: WordPress(Net())
    ),
    "'web' is not a host of a network, Command: give one, such as net": lambda: Command("web", "true"),
    "a dict is not a host of a network, Redis": lambda: Redis({}, "logs"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_one_line(what):
    with pytest.raises(ServiceError) as caught:
        MISTAKES[what]()
    assert str(caught.value).startswith(what)
    assert "\n" not in str(caught.value)


def test_numbers_become_texts_and_hosts_their_names():
    assert Redis(HOST, "logs", options=["--maxmemory", 50_000_000]).options == ("--maxmemory", "50000000")
    assert Command(HOST, "true", port="8000", env={"N": 5}).environment() == {"N": "5"}
    assert Command(HOST, "true", port="8000").port == 8000
    assert [Varnish(HOST, behind=each).behind for each in (HOST, "fd00::1", "web")] == ["10.0.0.2", "fd00::1", "web"]
    told = Container(HOST, "shop:1", user=1000, limits={"nofile": 64, "core": (0, -1)}).replaced
    assert (told.user, told.limits) == ("1000", {"nofile": (64, 64), "core": (0, -1)})
    assert NameServer(HOST, aliases={"shop.example": HOST}, options=["ndots:2"]).aliases == {"shop.example": "web"}


def test_a_service_of_a_network_takes_its_hosts_name_or_the_host_and_needs_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("slownet.lab.host.owner.directory", lambda: tmp_path)
    for on in ("web", HOST):
        assert StaticPage(Net(), on=on).host is HOST
    assert StaticPage(Net(), on="web").directory == Redis(HOST).directory == tmp_path / "logs"
