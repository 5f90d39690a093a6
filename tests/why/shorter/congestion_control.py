"""The experiment congestion_control with a tenth of its time: captures of a minute at 120 Mbit/s would be gigabytes a cell."""

from experiments import congestion_control as whole
from slownet import iperf3


def _shorter(sender, receiver, *, seconds, omit=0, **options):
    return iperf3(sender, receiver, seconds=seconds / 10, omit=omit / 10, **options)


whole.iperf3 = _shorter
congestion_control = whole.congestion_control
