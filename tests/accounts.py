"""Accounts of known parts, for tests of what is made of them: each step follows the one before it."""

from slownet.waits.account import Account, Beside, Cause, Step

MS = 1_000_000
BEGIN = 1_700_000_000 * 1000 * MS


class Path:
    """Builds the steps of a deciding path; `at` is the time in ns."""

    def __init__(self):
        self.steps = []
        self.at = BEGIN

    def trip(self, source, target, ms=5.0, cause=Cause.EXCHANGE, detail="", asked="", connection="c"):
        return self._add(ms, cause, source, target, detail, asked, 100, connection, trip=True)

    def ask(self, source, target, asked="", ms=5.0, answer="", **more):
        """A question and its answer."""
        return self.trip(source, target, ms, asked=asked, **more).trip(target, source, ms, asked=answer, **more)

    def shake(self, source, target, ms=5.0, **more):
        self.trip(source, target, ms, Cause.HANDSHAKE, "SYN", **more)
        return self.trip(target, source, ms, Cause.HANDSHAKE, "SYN-ACK", **more)

    def stay(self, host, ms, cause=Cause.TIMER, detail=""):
        return self._add(ms, cause, host, host, detail)

    def _add(self, ms, cause, source, target, *rest, trip=False):
        end = self.at + round(ms * MS)
        self.steps.append(Step(self.at, end, cause, source, target, *rest, trip=trip))
        self.at = end
        return self

    def account(self, *beside, operation="what client asked of web", **more):
        return Account(operation, "client", tuple(self.steps), beside, **more)


def beside(begin_ms, end_ms, slack_ms, target="images"):
    ends = f"10.0.0.1:4{begin_ms:04.0f} > 10.0.0.9:80"
    return Beside(ends, "client", target, round(slack_ms * MS), BEGIN + round(begin_ms * MS), BEGIN + round(end_ms * MS))


def page():
    """A page of 20 questions to a database, with two images beside it."""
    path = Path().shake("client", "web", 20.0).trip("client", "web", 20.0, asked="GET / HTTP/1.1")
    path.shake("web", "db")
    for number in range(20):
        path.ask("web", "db", f"SELECT * FROM items WHERE id = {number}", answer="Response")
    path.stay("web", 12.0, Cause.TIMER, "nothing arrived meanwhile")
    path.trip("web", "client", 20.0, Cause.WINDOW, "slow start, 10 segments in flight")
    path.trip("client", "web", 20.0, Cause.WINDOW, "slow start, 10 segments in flight")
    path.trip("web", "client", 20.0, asked="HTTP/1.1 200 OK")
    return path.account(beside(60, 180, 162), beside(60, 300, 42))


def repeated(times=500):
    """As many times a question and the program's pause."""
    path = Path().shake("client", "server", 50.0)
    for _ in range(times):
        path.ask("client", "server", "PING", 50.0).stay("client", 2.0)
    return path.account()


def mixed(count=400):
    """Parts that do not repeat, on many hosts, with long names."""
    causes, path = list(Cause), Path()
    for number in range(count):
        cause, host = causes[(number * number + number // 7) % len(causes)], f"host-{(number * 7) % 31}-{'x' * (number % 20)}"
        if number % 3:
            path.stay(host, 1.0 + number % 5, cause, "why " * (number % 9))
        else:
            path.trip(host, f"other-{number % 11}", 2.0, cause, asked="what " * (number % 30))
    notes = tuple(f"host-{number}: no capture before the queue" for number in range(30))
    return path.account(*(beside(1, 2, each) for each in range(50)), operation="what " * 60, notes=notes)
