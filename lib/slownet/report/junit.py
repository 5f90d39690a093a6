"""Runs and comparisons as JUnit XML, which CI services show: a suite per run, a case per claim. Pure.

Its dates and times are those of the machine, not those of a lab's clock.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import RunData
from slownet.model.control_characters import in_xml

PASSED, FAILED, SKIPPED, BROKEN = "passed", "failure", "skipped", "error"
CLAIMS = {"supported": PASSED, "not judged": SKIPPED}
"""The result of a claim by its verdict; of all other verdicts it is a failure, as for the exit status."""
DATE = "YYYY-MM-DDTHH:MM:SS"


@dataclass(frozen=True)
class Case:
    """One line of a suite."""

    name: str
    result: str = PASSED
    kind: str = ""
    text: str = ""


@dataclass(frozen=True)
class Suite:
    """The cases of one run or comparison."""

    name: str
    cases: Sequence[Case]
    seconds: float = 0.0
    started: str = ""
    properties: dict[str, str] = field(default_factory=dict)


def of_run(run: RunData) -> Suite:
    """Return a run's suite: its claims, then the cells that failed and, if it did not end, why."""
    cases = [_of_claim(claim) for claim in run.claims]
    cases += [Case(f"measured: {cell.title}", BROKEN, "failed", cell.error or "") for cell in run.failed]
    if run.facts.get("error"):
        cases.append(Case("the run ended", BROKEN, "broken off", str(run.facts["error"])))
    facts = {name: str(run.facts[name]) for name in ("clock", "tdf", "cpu", "kernel", "image") if run.facts.get(name)}
    started = str(run.facts.get("started") or "")[: len(DATE)]
    return Suite(run.experiment, cases, float(run.facts.get("wall_s") or 0), started, facts | {"directory": str(run.directory)})


def write(suites: Iterable[Suite]) -> str:
    """Return the XML."""
    made = [_suite(each) for each in suites]
    root = ET.Element("testsuites", {"name": "slownet"})
    root.extend(made)
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(each.get(name) or 0) for each in made)))
    for each in root.iter():  # a lab's own words, such as those of a failed program, may have control characters
        each.attrib.update({name: in_xml(value) for name, value in each.attrib.items()})
        each.text = in_xml(each.text) if each.text else each.text
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _of_claim(claim: Judgement) -> Case:
    return Case(claim.name, CLAIMS.get(claim.verdict, FAILED), claim.verdict, claim.text)


def _suite(suite: Suite) -> ET.Element:
    count = {kind: sum(case.result == kind for case in suite.cases) for kind in (FAILED, BROKEN, SKIPPED)}
    made = ET.Element("testsuite", {
        "name": suite.name, "tests": str(len(suite.cases)), "failures": str(count[FAILED]), "errors": str(count[BROKEN]),
        "skipped": str(count[SKIPPED]), "time": f"{suite.seconds:.3f}",
    })  # fmt: skip
    if suite.started:
        made.set("timestamp", suite.started)
    properties = ET.SubElement(made, "properties")
    for name, value in suite.properties.items():
        ET.SubElement(properties, "property", {"name": name, "value": value})
    for case in suite.cases:
        # The cells are measured for all claims together, so each one gets an equal part of the time.
        seconds = f"{suite.seconds / len(suite.cases):.3f}"
        element = ET.SubElement(made, "testcase", {"classname": suite.name, "name": case.name, "time": seconds})
        if case.result != PASSED:
            told = ET.SubElement(element, case.result, {"message": f"{case.kind}: {case.text}"})
            if case.result != SKIPPED:
                told.set("type", case.kind)
        elif case.text:
            ET.SubElement(element, "system-out").text = case.text
    return made
