"""WordPress's front page in a browser: does it pay the round trips that ab pays?"""

from slownet import ClientWebDb, WordPress, browse, experiment, law


# Theory, written before the measurement: the page's 52 kB come in flights of 10, 20 and 6 segments. With the handshake that is
# 4 round trips to the last byte, as for ab in client_delay, and 2 to the first. The first ten segments are text: the first
# paint waits for 2 round trips, not for 4, and for a frame.
@experiment(topology=ClientWebDb, service=WordPress, vary={"rtt": ["50ms", "100ms", "200ms", "400ms"]}, tdf="inf", blocks=1)
def wordpress_in_browser(net, site, rtt):
    """How long does a reader wait for WordPress's front page in a browser who is 50 to 400 ms away?"""
    with net.link("client", "switch").set(rtt=rtt):
        return browse(net["client"], site.url, loads=5)


wordpress_in_browser.claims(
    law("first_byte_ms", round_trips=2, within=0.05),
    law("first_paint_ms", round_trips=2, within=0.05),
    law("load_ms", round_trips=4, within=0.02),
)


@wordpress_in_browser.answer
def answer(run):
    def at(rtt):
        cell = run.at({"rtt": rtt})
        return (
            f"at {rtt} {cell.amount('first_paint_ms')} until something is painted, {cell.amount('load_ms')} until all is there"
        )

    return f"The reader waits {at('50ms')}; {at('400ms')}."
