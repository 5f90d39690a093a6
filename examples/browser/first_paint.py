"""What the first paint waits for: stylesheets, those that they import, connections to other hosts; and what hints save."""

import sites

from slownet import TwoHosts, browse, experiment, law
from slownet.services.composite import OnDemand

STYLE, TEXT = "h1 { color: navy }", "<h1>A page that is painted late</h1>"
LINK = '<link rel="stylesheet" href="{}">'
PRELOAD, PRECONNECT = '<link rel="preload" as="style" href="own.css">', '<link rel="preconnect" href="{far}">'
PRECONNECTED, SLOW, HINTED = "preconnected, from afar", "of a slow page", "of a slow page that hints"
# Where the page's style is, and the round trips to the first paint. Theory, written before the measurement: connection, TLS and
# document are 3; each stylesheet that must be there first and is only then known is one more; on another host it is three, with
# TCP and TLS.
# - `preload` asks for an imported stylesheet together with the one that imports it: one less.
# - `preconnect` opens the connection to another host while the stylesheet comes that names it: one of its two is saved.
# - A page that takes half a second to make keeps its stylesheet waiting, too. An early hint (103) asks for it meanwhile, and it
#   is there before the page, as long as a round trip is shorter than that: one less.
PAGES = {
    "in the page": ("<style>{style}</style>", 3),
    "a stylesheet": (LINK.format("own.css"), 4),
    "imported": (LINK.format("imports.css"), 5),
    "imported and preloaded": (PRELOAD + LINK.format("imports.css"), 4),
    "imported from afar": (LINK.format("imports_far.css"), 7),
    PRECONNECTED: (PRECONNECT + LINK.format("imports_far.css"), 6),
    SLOW: (LINK.format("own.css"), 4),
    HINTED: (LINK.format("own.css"), 3),
}
PATHS = {SLOW: "page.html", HINTED: "hinted.html"}
RTTS = ["100ms", "400ms"]  # far apart, because a paint waits up to 17 ms for its frame, and shorter than the slow page takes


@experiment(topology=TwoHosts, service=OnDemand, vary={"style": list(PAGES), "rtt": RTTS}, tdf="inf", blocks=1, warm_up=0)
def first_paint(net, site, style, rtt):
    """How many round trips does a browser wait before it paints a page?"""
    client, server, far = net["client"], net["server"], f"https://{net['server'].IP()}:444"
    page = f"{sites.HEAD}{PAGES[style][0].replace('{style}', STYLE).replace('{far}', far)}{TEXT}".encode()
    files = {
        "page.html": page, "own.css": STYLE.encode(), "imports.css": b'@import "own.css";',
        "imports_far.css": f'@import "{far}/own.css";'.encode(),
    }  # fmt: skip
    with net.link("server", "client").set(rtt=rtt), sites.TwoPorts(server, site.directory, files=files) as web:
        options = {"http": "2", "trust": [web.certificate], "loads": 3}
        if style in PATHS:
            with sites.thinking(web, page) as url:
                return browse(client, url + PATHS[style], **options)
        # A private window ignores preconnect.
        return browse(client, f"{web.url}page.html", window="ordinary" if style == PRECONNECTED else "private", **options)


first_paint.claims(
    *(law("first_paint_ms", round_trips=trips, within=0.05, at={"style": style}) for style, (_, trips) in PAGES.items())
)


@first_paint.answer
def answer(run):
    def trips(style):
        return f"{run.round_trips('first_paint_ms', {'style': style}):.2g}"

    return (
        f"{trips('in the page')} with the style in the page, {trips('a stylesheet')} with a stylesheet; with one that another "
        f"imports {trips('imported')} ({trips('imported and preloaded')} if preloaded), {trips('imported from afar')} from "
        f"another host ({trips(PRECONNECTED)} if preconnected). With a page that takes half a second {trips(SLOW)}, with an "
        f"early hint {trips(HINTED)}."
    )
