"""What the first paint waits for: stylesheets, those that they import, and connections to other hosts."""

import sites

from slownet import TwoHosts, browse, experiment, law
from slownet.services.on_demand import OnDemand

STYLE, TEXT = "h1 { color: navy }", "<h1>A page that is painted late</h1>"
LINK = '<link rel="stylesheet" href="{}">'
# Where the page's style is, what hints at it early, and the round trips to the first paint. Theory, written before the
# measurement: connection, TLS and document are 3; each stylesheet that must be there first and is only then known is one more;
# on another host it is three, with TCP and TLS. `preload` asks for an imported stylesheet together with the one that imports
# it: one less. (`preconnect` was to save one from afar, but it has no effect in the contexts that loads have.)
PAGES = {
    "in the page": ("<style>{style}</style>", 3),
    "a stylesheet": (LINK.format("own.css"), 4),
    "imported": (LINK.format("imports.css"), 5),
    "imported and preloaded": ('<link rel="preload" as="style" href="own.css">' + LINK.format("imports.css"), 4),
    "imported from afar": (LINK.format("imports_far.css"), 7),
}
RTTS = ["100ms", "300ms"]


@experiment(topology=TwoHosts, service=OnDemand, vary={"style": list(PAGES), "rtt": RTTS}, tdf="inf", blocks=1, warm_up=0)
def first_paint(net, site, style, rtt):
    """How many round trips does a browser wait before it paints a page?"""
    far = f"https://{net['server'].IP()}:444"
    head = PAGES[style][0].replace("{style}", STYLE)
    files = {
        "page.html": f"{sites.HEAD}{head}{TEXT}".encode(), "own.css": STYLE.encode(),
        "imports.css": b'@import "own.css";', "imports_far.css": f'@import "{far}/own.css";'.encode(),
    }  # fmt: skip
    with net.link("server", "client").set(rtt=rtt), sites.TwoPorts(net["server"], site.directory, files=files) as web:
        return browse(net["client"], f"{web.url}page.html", http="2", trust=[web.certificate], loads=3)


first_paint.claims(
    *(law("first_paint_ms", round_trips=trips, within=0.05, at={"style": style}) for style, (_, trips) in PAGES.items())
)


@first_paint.answer
def answer(run):
    def slope(style):
        near, far = (run.at({"style": style, "rtt": rtt}).summary("first_paint_ms").mean for rtt in RTTS)
        return f"{(far - near) / 200:.2g}"

    far = f"{slope('imported from afar')} from another host"
    return (
        f"{slope('in the page')} with the style in the page, {slope('a stylesheet')} with a stylesheet; with one that another "
        f"imports {slope('imported')} ({slope('imported and preloaded')} if preloaded), {far}."
    )
