"""The lab, where the network is emulated. Only this package knows where something runs."""
