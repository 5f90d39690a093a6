"""``sysbench``: transactions on a database, as in the article on transactions and latency."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from slownet.judge.measured import Metrics
from slownet.model.errors import ToolError, above_zero, counts
from slownet.net.output import DECIMAL, WHOLE, complaint, last_line, needed
from slownet.net.process import Host
from slownet.net.tool import Completed, run
from slownet.tools.numbers import Metric, metric, printed, single
from slownet.tools.register import tool

_NUMBER = f"({DECIMAL})"
_BUCKET = re.compile(rf"^ +({DECIMAL}) \|\**\s+({WHOLE})$", re.MULTILINE)
_OLD = re.compile(r"^sysbench (0\.\d+[\d.]*)", re.MULTILINE)
_FATAL = re.compile(r"^FATAL: (.*)$", re.MULTILINE)


PRINTED = 0.01  # sysbench prints two decimals


@dataclass(frozen=True)
class Account:
    """The address and credentials of a database.

    address: the server's IP address.
    user, password, schema: the account, and the schema that it uses.
    """

    address: str
    user: str = "sbtest"
    password: str = "sbtest"
    schema: str = "sbtest"


@dataclass(frozen=True)
class Prepared:
    """The way the table was filled.

    raw: the output.
    rows: the size of the table.
    seconds: how long it took, in seconds of the clock where it ran.
    statements: the number of SQL statements; None if they were not counted.
    """

    raw: str
    rows: int
    seconds: float
    statements: int | None = None


@dataclass(frozen=True)
class Sysbench(Metrics):
    """The results of ``sysbench oltp_read_write``.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    threads : int
        Connections that worked at the same time.
    reads, writes, others, queries, transactions : int
        Numbers of queries by kind, of all queries, and of transactions.
    transactions_per_s, queries_per_s : float
        Rates.
    errors, reconnects : int
        Transactions that met a deadlock and were begun again; lost connections.
    seconds : float
        Duration of the test.
    min_ms, avg_ms, p95_ms, max_ms : float
        Latency of whole transactions.
    histogram : tuple of (float, int)
        Pairs (ms, transactions) in logarithmic buckets; empty without ``--histogram``.
    prepared : Prepared or None
        How the table was filled before.
    """

    command: tuple[str, ...]
    raw: str
    threads: int
    reads: int
    writes: int
    others: int
    queries: int
    transactions: int
    transactions_per_s: float
    queries_per_s: float
    errors: int
    reconnects: int
    seconds: float
    min_ms: float
    avg_ms: float
    p95_ms: float
    max_ms: float
    histogram: tuple[tuple[float, int], ...] = ()
    prepared: Prepared | None = None

    @property
    def sd_ms(self) -> float | None:
        """The latency's sample standard deviation in ms, from the histogram (its buckets are 2 % wide); None without one."""
        count = sum(number for _, number in self.histogram)
        if count < 2:
            return None
        middle = math.fsum(ms * number for ms, number in self.histogram) / count
        return math.sqrt(math.fsum(number * (ms - middle) ** 2 for ms, number in self.histogram) / (count - 1))

    def metrics(self) -> dict[str, Metric]:
        """Return latencies in ms, ``transactions_per_s``, ``queries_per_s``, ``queries_per_transaction``, ``busy_threads``.

        Minimum, maximum and 95th percentile have no deviation. ``busy_threads`` is the mean number of transactions in
        progress: rate times latency (Little's law). With ``prepared`` also ``prepare_ms``.
        """
        n, sd = self.transactions, self.sd_ms
        relative = None if sd is None else sd / self.avg_ms if self.avg_ms else 0.0
        up_to = accumulate(count for _, count in self.histogram)
        steps = [(ms, count) for (ms, _), count in zip(self.histogram, up_to, strict=True)]
        found = {
            "latency_min_ms": single(self.min_ms, n, PRINTED),
            "latency_avg_ms": metric(self.avg_ms, sd, n, steps=steps, step=PRINTED),
            "latency_p95_ms": printed(self.p95_ms, n, 95, "latency_avg_ms"),
            "latency_max_ms": printed(self.max_ms, n),
            "transactions_per_s": _rate(self.transactions_per_s, relative, n),
            "queries_per_s": _rate(self.queries_per_s, relative, n),
            "queries_per_transaction": metric(self.queries / n, 0.0, n),
            "busy_threads": single(
                self.transactions_per_s * self.avg_ms / 1000, n, PRINTED * (self.transactions_per_s + self.avg_ms) / 1000
            ),
        }
        if self.prepared:
            found["prepare_ms"] = single(self.prepared.seconds * 1000, self.prepared.rows)
        return found

    def facts(self) -> dict[str, int | None]:
        """Return the numbers of queries by kind and of errors; with ``prepared`` the table's rows and their statements."""
        found: dict[str, int | None] = {
            "reads": self.reads,
            "writes": self.writes,
            "others": self.others,
            "errors": self.errors,
        }
        if self.prepared:
            found |= {"table_rows": self.prepared.rows, "prepare_statements": self.prepared.statements}
        return found


def _rate(value: float, relative: float | None, n: int) -> Metric:
    """Return a rate's metric from the relative standard deviation of the times (None if unknown)."""
    return metric(value, None if relative is None else value * relative, n, step=PRINTED)


@tool("sysbench")
def oltp(
    host: Host,
    database: Account,
    *,
    threads: int = 1,
    transactions: int = 100,
    rows: int = 20_000,
    statements: Callable[[], int] | None = None,
    timeout: float = 3600.0,
) -> Sysbench:
    """Fill a table, run sysbench's ``oltp_read_write`` on it from a host, and drop the table.

    Parameters
    ----------
    host : Host
        The host that ``sysbench`` runs on.
    database : Account
        The database's address and account.
    threads : int
        Connections that work at the same time.
    transactions : int
        The number of transactions; fixed, rather than a time, so that each condition measures the same number.
    rows : int
        The size of the table. Keys are drawn uniformly, so that transactions collide as rarely as in a much larger table
        with sysbench's default of hot rows.
    statements : callable, optional
        Returns how many statements the server has executed so far; it is used to count those that fill the table.
    timeout : float
        Seconds for each step.

    Returns
    -------
    Sysbench
        The results; latencies of whole transactions in ms.

    Raises
    ------
    ToolError
        ``sysbench`` is missing, cannot connect or takes too long, its output is not understood, or ``database`` is not an
        account.

    Examples
    --------
    >>> with OltpDatabase(net, directory) as database:  # doctest: +SKIP
    ...     oltp(net["client"], database.account, transactions=50).avg_ms
    210.1
    """
    counts("oltp", threads=threads, transactions=transactions, rows=rows)
    above_zero("oltp", timeout=timeout)
    if not isinstance(database, Account):
        shown = repr(database) if isinstance(database, str) else f"of type {type(database).__name__}"
        fix = "give OltpDatabase(...).account, or slownet.tools.sysbench.Account(host.IP(), user, password, schema)"
        raise ToolError(f"the database is {shown}, no Account", "in oltp", fix)
    base = [
        "sysbench", "oltp_read_write", "--db-driver=mysql", f"--mysql-host={database.address}", f"--mysql-user={database.user}",
        f"--mysql-password={database.password}", f"--mysql-db={database.schema}", "--tables=1", f"--table_size={rows}",
        "--rand-type=uniform", "--rand-seed=1",
    ]  # fmt: skip
    try:
        before = statements() if statements else 0
        filled = _run(host, [*base, "prepare"], timeout)
        count = statements() - before if statements else None
        argv = [*base, f"--threads={threads}", "--time=0", f"--events={transactions}", "--histogram", "run"]
        done = _run(host, argv, timeout)
    finally:
        run(host, [*base, "cleanup"], timeout=timeout, check=False)
    result = parse(done.stdout, argv)
    return replace(result, raw=filled.stdout + done.stdout, prepared=Prepared(filled.stdout, rows, filled.seconds, count))


def _run(host: Host, argv: Sequence[str], timeout: float) -> Completed:
    """Run one step of sysbench, which prints errors to standard output."""
    done = run(host, argv, timeout=timeout, check=False)
    fatal = _FATAL.findall(done.raw)
    if done.status or fatal:
        why = "; ".join(fatal[:2]) or last_line(done.raw, "it printed nothing")
        raise ToolError(f"sysbench {argv[-1]} ended with status {done.status}: {why}", f"host '{host.name}'", raw=done.raw)
    return done


def parse(text: str, command: Sequence[str] = ("sysbench",)) -> Sysbench:
    """Parse the output of ``sysbench oltp_read_write ... run``, with or without ``--histogram``.

    text: the output.
    command: the command, for the record and for errors.
    returns: the results, without ``prepared``.
    Raises ToolError: a line is missing, or no transaction was completed; ``.raw`` is the text.
    """
    if old := _OLD.search(text):
        raise complaint(f"this is the output of sysbench {old[1]}; 1.0 or newer is read", text, command)

    def find(name: str, rest: str = "") -> list[float]:
        line = re.compile(rf"^\s*{name}:\s+{_NUMBER}{rest}", re.MULTILINE)
        return [float(each) for each in needed(line, text, f"sysbench printed no '{name}'", command).groups()]

    def whole(name: str) -> int:
        return int(find(name)[0])

    per_second = rf"\s+\({_NUMBER} per sec\.\)"
    transactions, rate = find("transactions", per_second)
    queries, query_rate = find("queries", per_second)
    if not transactions:
        raise complaint("sysbench completed no transaction", text, command)
    seconds = find("total time")[0]
    if seconds and not math.isclose(transactions / seconds, rate, rel_tol=0.05, abs_tol=2 * PRINTED):
        raise complaint(
            f"sysbench printed {rate:g} transactions a second, but {transactions:g} in {seconds:g} s", text, command
        )
    return Sysbench(
        command=tuple(command),
        raw=text,
        threads=whole("Number of threads"),
        reads=whole("read"),
        writes=whole("write"),
        others=whole("other"),
        queries=int(queries),
        transactions=int(transactions),
        transactions_per_s=rate,
        queries_per_s=query_rate,
        errors=whole("ignored errors"),
        reconnects=whole("reconnects"),
        seconds=seconds,
        min_ms=find("min")[0],
        avg_ms=find("avg")[0],
        p95_ms=find("95th percentile")[0],
        max_ms=find("max")[0],
        histogram=tuple((float(ms), int(count)) for ms, count in _BUCKET.findall(text)),
    )
