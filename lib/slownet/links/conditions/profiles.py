"""Named conditions: well-known kinds of links, each with the source of its numbers.

A condition is the whole path from a user to a nearby server, as measured by its source. Such numbers never describe one
particular provider: if you have measured your own link, state its numbers. "up" is what the link's first end sends, so
name the user's end first: `net.link("client", "switch").set("LTE")`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from slownet.links.conditions.link import Condition
from slownet.model.errors import ConditionError, nearest
from slownet.model.extensions import Register


@dataclass(frozen=True)
class Named:
    """A named condition.

    name: upper and lower case are equal.
    fields: as for `Condition.parse`.
    source: the source of the numbers.
    """

    name: str
    fields: Mapping[str, str] = field(hash=False)
    source: str

    @property
    def condition(self) -> Condition:
        """The condition itself."""
        return Condition.parse(**self.fields)


_ARTICLE = 'article "czy 10 ms to duzo?": what it set with tc for servers in two places (published.toml)'
_WEBPAGETEST = "WebPageTest's connection profiles (WPO-Foundation/webpagetest, connectivity.ini.sample)"
_CHROME = "Chrome's DevTools (front_end/core/sdk/NetworkManager.ts)"
_LIGHTHOUSE = "Lighthouse (core/config/constants.js), its network before the factors for DevTools"
_ANDROID = "Android's emulator (-help-netspeed, -help-netdelay of SDK 25 and newer"
TABLE = (
    Named("none", {}, "an unimpaired cable"),
    Named(
        "LAN",
        {"rtt": "0.1ms", "rate": "1Gbit", "queue": "1000 packets"},
        "article's 0.102 ms ping between VMs; rate of IEEE 802.3ab (1000BASE-T); Linux's default queue of a card (txqueuelen)",
    ),
    Named("PL-PL", {"rtt": "10ms"}, _ARTICLE),
    Named("PL-FR", {"rtt": "40ms"}, _ARTICLE),
    Named("PL-US", {"rtt": "120ms"}, _ARTICLE),
    Named("DSL", {"rtt": "50ms", "rate_up": "384kbit", "rate_down": "1500kbit"}, _WEBPAGETEST),
    Named("cable", {"rtt": "28ms", "rate_up": "1Mbit", "rate_down": "5Mbit"}, _WEBPAGETEST),
    Named("3G", {"rtt": "300ms", "rate_up": "768kbit", "rate_down": "1600kbit"}, _WEBPAGETEST),
    Named("LTE", {"rtt": "70ms", "rate": "12Mbit"}, _WEBPAGETEST),
    Named(
        "5G",
        {"rtt": "8ms", "rate_up": "50Mbit", "rate_down": "100Mbit"},
        "ITU-R M.2410-0 (2017), requirements of IMT-2020: 4 ms user plane one way, 100 down and 50 Mbit/s up per user",
    ),
    Named(
        "Wi-Fi",
        {"rtt": "4ms", "jitter": "1ms", "rate": "30Mbit", "loss": "1% in bursts of 5"},
        "this project's choice, for the pattern: losses on 802.11 come in bursts (Cardoso and de Rezende, IEEE Communications "
        "Letters 2009, who also show that two states are too few for real ones); the numbers are not measured",
    ),
    Named(
        "LEO",
        {"rtt": "47ms", "rate_up": "18Mbit", "rate_down": "117Mbit"},
        "Ookla, Above Maine, Starlink Twinkles (December 2024): medians of 47 ms, 18.17 and 116.77 Mbit/s",
    ),
    Named(
        "GEO",
        {"rtt": "629ms", "rate_up": "3Mbit", "rate_down": "18.75Mbit"},
        "Ookla's Speedtest for Viasat, third quarter of 2021: 629 ms, 18.75 Mbit/s down (RFC 2488: 558 ms at least); rate up: "
        "this project's choice",
    ),
    Named("Slow 4G", {"rtt": "150ms", "rate_up": "750kbit", "rate_down": "1600kbit"}, f"{_CHROME}, Slow 4G before its factors"),
    Named("Fast 4G", {"rtt": "60ms", "rate_up": "1500kbit", "rate_down": "9Mbit"}, f"{_CHROME}, Fast 4G before its factors"),
    Named("Slow 3G", {"rtt": "400ms", "rate": "500kbit"}, f"{_CHROME}, 3G before its factors"),
    Named("Lighthouse mobile", {"rtt": "150ms", "rate_up": "750kbit", "rate_down": "1638.4kbit"}, f"{_LIGHTHOUSE}: Slow4G"),
    Named("Lighthouse 3G", {"rtt": "300ms", "rate": "700kbit"}, f"{_LIGHTHOUSE}: mobileRegular3G"),
    Named("Lighthouse desktop", {"rtt": "40ms", "rate": "10240kbit"}, f"{_LIGHTHOUSE}: desktopDense4G"),
    Named("3G Fast", {"rtt": "150ms", "rate_up": "768kbit", "rate_down": "1600kbit"}, _WEBPAGETEST),
    Named("3G Slow", {"rtt": "400ms", "rate": "400kbit"}, _WEBPAGETEST),
    Named("4G", {"rtt": "170ms", "rate": "9Mbit"}, _WEBPAGETEST),
    Named("FIOS", {"rtt": "4ms", "rate_up": "5Mbit", "rate_down": "20Mbit"}, _WEBPAGETEST),
    Named("2G", {"rtt": "800ms", "rate_up": "256kbit", "rate_down": "280kbit"}, _WEBPAGETEST),
    Named("Edge", {"rtt": "840ms", "rate_up": "200kbit", "rate_down": "240kbit"}, _WEBPAGETEST),
    Named("Dial", {"rtt": "120ms", "rate_up": "30kbit", "rate_down": "49kbit"}, _WEBPAGETEST),
    Named(
        "Android gprs",
        {"rtt": "117.5ms", "rate_up": "28.8kbit", "rate_down": "57.6kbit"},
        f"{_ANDROID}: the middle of 35 to 200 ms)",
    ),
    Named("Android edge", {"rtt": "240ms", "rate": "473.6kbit"}, f"{_ANDROID}: the middle of 80 to 400 ms)"),
    Named("Android umts", {"rtt": "117.5ms", "rate": "384kbit"}, f"{_ANDROID}: the middle of 35 to 200 ms)"),
    Named("Android hsdpa", {"rate_up": "5760kbit", "rate_down": "13980kbit"}, f"{_ANDROID}: no delay)"),
    Named("Android lte", {"rate_up": "58Mbit", "rate_down": "173Mbit"}, f"{_ANDROID}: no delay)"),
    Named("Android evdo", {"rate_up": "75Mbit", "rate_down": "280Mbit"}, f"{_ANDROID}: no delay)"),
    Named("200kbit", {"rate": "200kbit"}, "a 200 kbit/s uplink, rate only; this project's choice"),
    Named("2Mbit", {"rate": "2Mbit"}, "article on testing with tc: its rate of 2000kbit (published.toml)"),
)


_ROWS = Register("conditions", {row.name.lower(): row for row in TABLE})


def rows() -> list[Named]:
    """Return the rows of all names, those of other packages last. Raises ExperimentError: a package cannot be imported."""
    return list(_ROWS.values())


def row(name: str) -> Named:
    """Return the row of a name.

    name: upper and lower case are equal.
    Raises ConditionError: no such name; it suggests the nearest one.
    """
    found = _ROWS.get(name.strip().lower())
    if found is None:
        raise ConditionError(f"no condition '{name}'", fix=nearest(name, [each.name for each in rows()]))
    return found


def find(name: str) -> Condition:
    """Return the condition of a name.

    name: upper and lower case are equal.
    Raises ConditionError: no such name; it suggests the nearest one.
    """
    return row(name).condition
