"""Conditions of links, and schedules of them: values, read from texts with units.

- `slownet.links.conditions.link`: `Condition`, what a link does to packets now
- `slownet.links.conditions.schedule`: `Schedule`, how that changes over time
- `slownet.links.conditions.impairment`: models of loss
- `slownet.links.conditions.queueing`: queue sizes and AQMs
- `slownet.links.conditions.jitter`: tables of measured jitter
- `slownet.links.conditions.slot`: slots, as on a shared medium
- `slownet.links.conditions.profiles`: conditions with names, and their sources
"""
