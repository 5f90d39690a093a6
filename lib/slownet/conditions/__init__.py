"""Conditions of links, and schedules of them: values, read from texts with units.

- `slownet.conditions.link`: `Condition`, what a link does to packets now
- `slownet.conditions.schedule`: `Schedule`, how that changes over time
- `slownet.conditions.impairment`: models of loss
- `slownet.conditions.queueing`: queue sizes and AQMs
- `slownet.conditions.jitter`: tables of measured jitter
- `slownet.conditions.slot`: slots, as on a shared medium
- `slownet.conditions.profiles`: conditions with names, and their sources
"""
