"""A page's decisions as JUnit XML, which CI servers show as tests."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from bayesjudge.core.screen import visible
from bayesjudge.render.page import Page

#: Characters that XML cannot hold, not even by their number.
NO_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: The element of an outcome, if it has one.
ELEMENTS = {"fail": "failure", "error": "error", "unknown": "skipped"}


def to_junit(page: Page, suite: str = "bayesjudge") -> str:
    """Write one test case a decision."""
    suite, outcomes = _xml(suite), [case.outcome for case in page.cases]
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(outcomes)),
        failures=str(outcomes.count("fail")),
        skipped=str(outcomes.count("unknown")),
        errors=str(outcomes.count("error")),
    )
    for decided in page.cases:
        text, about = _xml(decided.text), {"classname": f"{suite}.{page.command}"}
        case = ElementTree.SubElement(root, "testcase", about, name=_xml(decided.name))
        if decided.outcome in ELEMENTS:
            ElementTree.SubElement(case, ELEMENTS[decided.outcome], message=text)
        ElementTree.SubElement(case, "system-out").text = text
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Text with what XML has no way to write written out."""
    return NO_XML.sub(lambda match: ascii(match[0])[1:-1], visible(text))
