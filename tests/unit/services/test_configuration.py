"""Configurations and commands of the services, without running them; real servers run in tests/lab."""

import os
import pwd
import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.lab.host import owner
from slownet.model.errors import ServiceError
from slownet.reproductions.cured import CURES, OBJECT_CACHE, CuredSite
from slownet.reproductions.own_server import Listener, Proxy
from slownet.services import mariadb as mariadb_module
from slownet.services.mariadb import MariaDB, Replication, copy_sparse
from slownet.services.memcached import Memcached
from slownet.services.nginx import Nginx
from slownet.services.php_fpm import GET_VALUES, PhpFpm
from slownet.services.redis import Redis
from slownet.services.varnish import Varnish
from slownet.services.wordpress import ROOT, WordPress


class Host:
    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.address = address

    def IP(self) -> str:  # noqa: N802
        return self.address

    def popen(self, *args, **kwargs):
        raise AssertionError("nothing may be started here")


WEB = Host("web", "10.0.0.2")
DB = Host("db", "10.0.0.3")
NET = {"client": Host("client", "10.0.0.1"), "web": WEB, "db": DB}


def prepared(service, directory: Path):
    """Return the service with its state directory and files, as after launch()."""
    service._state = directory
    service.prepare()
    return service


def answer_once(path: Path, reply: bytes, asked: bool = True) -> threading.Thread:
    """Run a server on a Unix socket that sends one reply, to any request or without one."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(1)

    def serve() -> None:
        with server:
            connection = server.accept()[0]
            with connection:
                if asked:
                    connection.recv(1 << 16)
                connection.sendall(reply)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


# ---- the copy of the data directory ----


def test_a_copy_has_the_same_bytes_and_holes_for_zeros(tmp_path: Path):
    source = tmp_path / "source"
    (source / "mysql").mkdir(parents=True)
    contents = {
        "empty": b"",
        "short": b"abc",
        "zeros": bytes(1 << 20),
        "mixed": b"head" + bytes(1 << 20) + b"tail",
        "mysql/end": b"x" * (1 << 16) + bytes(12345),
    }
    for name, content in contents.items():
        (source / name).write_bytes(content)
    copy_sparse(source, tmp_path / "target")
    for name, content in contents.items():
        assert (tmp_path / "target" / name).read_bytes() == content, name
    assert (tmp_path / "target" / "zeros").stat().st_blocks == 0
    assert (tmp_path / "target" / "mixed").stat().st_blocks * 512 <= 4 << 16


def test_the_template_is_copied_given_to_mysql_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    template, state = tmp_path / "template", tmp_path / "state"
    (template / "mysql").mkdir(parents=True)
    state.mkdir()
    (template / "mysql" / "db.opt").write_text("x")
    us = SimpleNamespace(pw_uid=os.getuid(), pw_gid=os.getgid())
    owned: list[Path] = []
    monkeypatch.setattr(pwd, "getpwnam", {"mysql": us}.__getitem__)
    monkeypatch.setattr(mariadb_module.os, "chown", lambda path, uid, gid: owned.append(Path(path)))
    service = prepared(MariaDB(DB, tmp_path, template=template, options=["--max-connections=5"]), state)
    assert (state / "data" / "mysql" / "db.opt").read_text() == "x"
    assert sorted(owned) == [
        state,
        state / "data",
        state / "data" / "mysql",
        state / "data" / "mysql" / "db.opt",
    ]
    argv = list(service.command())
    assert argv[:2] == ["mariadbd", "--no-defaults"]
    assert f"--datadir={state}/data" in argv
    assert "--innodb-buffer-pool-size=128M" in argv
    assert "--skip-networking" not in argv
    assert argv[-1] == "--max-connections=5"
    assert [path.name for path in template.rglob("*")] == ["mysql", "db.opt"]


def test_without_a_template_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(owner, "RUN", tmp_path / "state")
    with pytest.raises(ServiceError, match=r"^there is no prepared database, .*/none: run lab/build/provision"):
        MariaDB(DB, tmp_path, template=tmp_path / "none").start()
    assert list(owner.directory().iterdir()) == []


def test_a_server_logs_its_transactions_only_for_replication(tmp_path: Path):
    alone, primary = MariaDB(DB, tmp_path), MariaDB(DB, tmp_path, replication=Replication(7), options=["--max-connections=5"])
    for service in (alone, primary):
        service._state = tmp_path
    assert not any("log-bin" in word or "server-id" in word for word in alone.command())
    argv = list(primary.command())
    assert {"--server-id=7", "--log-bin=binlog", "--gtid-strict-mode=1", "--binlog-format=ROW"} <= set(argv)
    assert argv[-1] == "--max-connections=5"


def test_a_replicas_status_is_read_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    replica = MariaDB(DB, tmp_path, replication=Replication(2))
    text = (Path(__file__).parent / "data" / "slave-status.txt").read_text()
    monkeypatch.setattr(replica, "_ask", lambda sql, *options: text)
    said = replica.replication()
    assert (said["Slave_IO_Running"], said["Slave_SQL_Running"], said["Using_Gtid"]) == ("Yes", "Yes", "Slave_Pos")
    assert said["Last_IO_Error"] == ""
    replica.wait_for_replication(1)
    monkeypatch.setattr(replica, "_ask", lambda sql, *options: "")
    with pytest.raises(ServiceError, match=r"^mariadb does not replicate after 0 s: it is not a replica, host 'db'"):
        replica.wait_for_replication(0)


# ---- answers ----


@pytest.mark.parametrize(("greeting", "answers"), [(b"\x4a\x00\x00\x00\x0a11.8", True), (b"", False)])
def test_mariadb_answers_with_its_greeting(tmp_path: Path, greeting: bytes, answers: bool):
    service = MariaDB(DB, tmp_path)
    service._state = tmp_path
    thread = answer_once(tmp_path / "sock", greeting, asked=False)
    assert service.answers() is answers
    thread.join()


@pytest.mark.parametrize(("record", "answers"), [(b"\x01\x0a\x00\x00", True), (b"\x01\x0b", False), (b"", False)])
def test_php_answers_a_fastcgi_management_record(tmp_path: Path, record: bytes, answers: bool):
    service = PhpFpm(WEB, tmp_path)
    service._state = tmp_path
    thread = answer_once(tmp_path / "sock", record)
    assert service.answers() is answers
    thread.join()


def test_the_fastcgi_record_is_as_long_as_it_says():
    header, content = GET_VALUES[:8], GET_VALUES[8:]
    assert header[:2] == bytes([1, 9])
    assert int.from_bytes(header[4:6], "big") == len(content) == 2 + len("FCGI_MAX_CONNS")


def test_nginx_answers_in_http_and_serves_a_page(tmp_path: Path):
    service = Nginx(WEB, tmp_path, root=tmp_path)
    service._state = tmp_path
    thread = answer_once(tmp_path / "sock", b"HTTP/1.1 405 Not Allowed\r\n\r\n")
    assert service.answers()
    thread.join()
    (tmp_path / "sock").unlink()
    thread = answer_once(tmp_path / "sock", b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n<html>\r\n\r\n</html>")
    assert service.get("/") == (200, b"<html>\r\n\r\n</html>")
    thread.join()
    (tmp_path / "sock").unlink()
    thread = answer_once(tmp_path / "sock", b"")
    assert service.get("/") == (0, b"")
    thread.join()


def test_a_page_from_a_server_that_ended_is_an_error_of_one_line(tmp_path: Path):
    service = Nginx(WEB, tmp_path, root=tmp_path)
    service._state = tmp_path
    with pytest.raises(ServiceError, match=r"^nginx does not serve /: .*No such file or directory, host 'web'"):
        service.get("/")


@pytest.mark.parametrize(("reply", "answers"), [(b"+PONG\r\n", True), (b"-LOADING Redis is loading\r\n", False)])
def test_redis_answers_a_ping_once_it_is_ready(tmp_path: Path, reply: bytes, answers: bool):
    service = Redis(DB, tmp_path)
    service._state = tmp_path
    thread = answer_once(tmp_path / "sock", reply)
    assert service.answers() is answers
    thread.join()


def test_redis_keeps_nothing_on_disk(tmp_path: Path):
    service = Redis(DB, tmp_path, options=["--maxmemory", "50mb"])
    service._state = tmp_path
    argv = list(service.command())
    assert argv[argv.index("--save") + 1] == ""
    assert argv[argv.index("--appendonly") + 1] == "no"
    assert argv[-2:] == ["--maxmemory", "50mb"]


def test_the_projects_own_servers_say_when_they_listen(tmp_path: Path):
    proxy = Proxy(WEB, tmp_path, address="10.0.0.3", size=128, nodelay=True)
    listener = Listener(WEB, tmp_path, quickack="once")
    for service in (proxy, listener):
        service._state = tmp_path
        assert service.answers() is False
    ready = str(tmp_path / "ready")
    assert list(proxy.command())[1:] == [
        "-m",
        "slownet.reproductions.programs.proxy",
        ready,
        "3306",
        "10.0.0.3",
        "3306",
        "128",
        "nodelay",
    ]
    assert list(listener.command())[1:] == [
        "-m",
        "slownet.reproductions.programs.request_writer",
        "serve",
        ready,
        "5000",
        "once",
    ]
    (tmp_path / "ready").touch()
    assert proxy.answers()


def test_a_missing_socket_is_no_answer(tmp_path: Path):
    for service in (MariaDB(DB, tmp_path), PhpFpm(WEB, tmp_path), Nginx(WEB, tmp_path, root=tmp_path)):
        service._state = tmp_path
        assert service._answers() is False


# ---- configurations ----


def test_php_gets_the_databases_address_two_children_and_the_opcode_cache(tmp_path: Path):
    service = prepared(PhpFpm(WEB, tmp_path, variables={"SLOWNET_DB_HOST": "10.0.0.3"}), tmp_path / "state")
    lines = service.config.read_text().splitlines()
    assert 'env[SLOWNET_DB_HOST] = "10.0.0.3"' in lines
    assert "pm = static" in lines
    assert "pm.max_children = 2" in lines
    assert f"listen = {tmp_path}/state/sock" in lines
    argv = list(service.command())
    assert argv[argv.index("--fpm-config") + 1] == str(service.config)
    assert {"opcache.enable=1", "opcache.validate_timestamps=0"} <= set(argv)


def test_nginx_serves_files_or_php(tmp_path: Path, monkeypatch):
    (tmp_path / "pages").mkdir()
    monkeypatch.chdir(tmp_path)
    plain = prepared(Nginx(WEB, tmp_path / ".", root="pages"), tmp_path / "state").config.read_text()
    assert f"root {tmp_path}/pages;" in plain
    assert "fastcgi_pass" not in plain
    php = prepared(Nginx(WEB, tmp_path, root=tmp_path, php="/run/php.sock"), tmp_path / "state").config.read_text()
    assert "fastcgi_pass unix:/run/php.sock;" in php
    assert "fastcgi_param HTTP_HOST web;" in php
    for text in (plain, php):
        assert text.count("{") == text.count("}")
        assert "daemon off;" in text


def test_nginx_says_that_there_is_nothing_to_serve(tmp_path: Path):
    with pytest.raises(ServiceError, match=r"^there is no folder /no/pages to serve, host 'web': name the folder"):
        prepared(Nginx(WEB, tmp_path, root="/no/pages"), tmp_path)


def test_wordpress_is_put_together_over_three_hosts(tmp_path: Path):
    site = WordPress(NET, tmp_path)
    assert site.url == "http://10.0.0.2/"
    assert (site.mariadb.host, site.php.host, site.nginx.host) == (DB, WEB, WEB)
    assert site.php.variables == {"SLOWNET_DB_HOST": "10.0.0.3"}
    assert WordPress(NET, tmp_path, web="client", db="web").php.variables == {"SLOWNET_DB_HOST": "10.0.0.2"}


def test_a_site_may_have_drop_ins_that_only_its_php_sees(tmp_path: Path):
    drop_in = tmp_path / "object-cache.php"
    drop_in.write_text("<?php\n")
    site = WordPress(NET, tmp_path, drop_ins=[drop_in], variables={"SLOWNET_MEMCACHED": "10.0.0.2:11211"})
    (tmp_path / "state").mkdir()
    php = prepared(site.php, tmp_path / "state")
    assert 'env[SLOWNET_MEMCACHED] = "10.0.0.2:11211"' in php.config.read_text().splitlines()
    copy = tmp_path / "state" / "addition0" / "object-cache.php"
    assert copy.read_text() == "<?php\n"
    assert copy.parent.stat().st_mode & 0o777 == 0o755
    argv = list(php.command())
    assert argv[:4] == ["unshare", "--mount", "sh", "-c"]
    assert argv[4] == (
        f'mount -t overlay -o ro,lowerdir={copy.parent}:{ROOT}/wp-content overlay {ROOT}/wp-content && exec "$@"'
    )
    assert argv[6] == "/opt/slownet/bin/php-fpm"


def test_a_persistent_connection_is_named_so_that_wordpress_passes_it_on(tmp_path: Path):
    assert WordPress(NET, tmp_path, persistent=True).php.variables == {"SLOWNET_DB_HOST": "p:10.0.0.3:3306"}


def test_a_site_on_a_database_that_runs_does_not_start_another(tmp_path: Path):
    mariadb = MariaDB(DB, tmp_path)
    site = WordPress(NET, tmp_path, mariadb=mariadb)
    assert site.mariadb is mariadb
    assert site.servers == (site.php, site.nginx)


@pytest.mark.parametrize(
    ("behind", "backend"),
    [
        ("10.0.0.2", 'backend default { .host = "10.0.0.2"; .port = "80"; }'),
        (Path("/run/nginx/sock"), 'backend default { .path = "/run/nginx/sock"; }'),
    ],
)
def test_varnish_has_an_address_or_a_socket_as_backend(tmp_path: Path, behind: str | Path, backend: str):
    service = prepared(Varnish(WEB, tmp_path, behind=behind, ttl_s=60), tmp_path)
    assert service.config.read_text().splitlines() == [
        "vcl 4.1;",
        backend,
        "sub vcl_recv {",
        '    set req.http.Host = "web";',
        "}",
        "sub vcl_deliver {",
        '    set resp.http.X-Cache = "miss";',
        '    if (obj.hits > 0) { set resp.http.X-Cache = "hit"; }',
        "}",
    ]
    argv = list(service.command())
    assert argv[:6] == ["varnishd", "-F", "-n", f"{tmp_path}/work", "-f", f"{tmp_path}/vcl"]
    assert (tmp_path / "vcl").read_text() == service.config.read_text()
    assert [argv[at + 1] for at, word in enumerate(argv) if word == "-a"] == ["http=:6081", f"local={tmp_path}/sock,mode=666"]
    assert argv[argv.index("-t") + 1] == "60"
    assert service.url == "http://10.0.0.2:6081/"


def test_varnish_answers_in_http_and_serves_a_page(tmp_path: Path):
    service = Varnish(WEB, tmp_path, behind="10.0.0.2")
    service._state = tmp_path
    thread = answer_once(tmp_path / "sock", b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
    assert service.answers()
    thread.join()
    (tmp_path / "sock").unlink()
    thread = answer_once(tmp_path / "sock", b"HTTP/1.1 200 OK\r\nX-Cache: hit\r\nX-Varnish: 5 3\r\n\r\n<html>\r\n\r\n</html>")
    page = service.get()
    thread.join()
    assert (page.status, page.body) == (200, b"<html>\r\n\r\n</html>")
    assert page.headers == {"x-cache": "hit", "x-varnish": "5 3"}
    (tmp_path / "sock").unlink()
    with pytest.raises(ServiceError, match=r"^varnish does not serve /: .*No such file or directory, host 'web'"):
        service.get()


def test_memcached_listens_on_all_addresses_as_debians_user(tmp_path: Path):
    service = Memcached(WEB, tmp_path, port=11212)
    assert list(service.command()) == ["memcached", "-u", "memcache", "-l", "0.0.0.0", "-p", "11212"]
    assert service.address == "10.0.0.2:11212"


def test_an_unknown_cure_suggests_the_nearest(tmp_path: Path):
    site = CuredSite(NET, tmp_path)
    with pytest.raises(ServiceError, match=r"^unknown cure 'memcache': did you mean 'memcached'"), site.cured("memcache"):
        pass
    assert next(iter(CURES)) == "none"
    assert OBJECT_CACHE.read_text().startswith("<?php")
