"""A recording in steps, played on a link, against ping."""

import re

from readings import OWN_MS

from slownet.links.traces import stepped

UP = "2000000,10000000,100000000,0,1000\n2000000,40000000,100000000,0,1000\n"  # 2 s of 10 ms, 2 s of 40 ms
DOWN = "4000000,5000000,100000000,0,1000\n"


def test_both_directions_are_played_in_step(net):
    link = net.link("client", "switch")
    with link.play(stepped.schedule(stepped.theaterq(UP), stepped.theaterq(DOWN))):
        text = net["client"].cmd(f"ping -c 28 -i 0.25 {net['web'].IP()}")
    times = [float(each) for each in re.findall(r"time=([\d.]+)", text)]
    assert len(times) == 28
    near = [each for each in times if abs(each - 15) < OWN_MS + 1]
    far = [each for each in times if abs(each - 45) < OWN_MS + 1]
    assert len(near) + len(far) >= 26  # but those that leave while the link changes
    assert min(len(near), len(far)) >= 11
    assert times[:6] == near[:6]
    assert times[9:14] == far[:5] or times[8:13] == far[:5]
