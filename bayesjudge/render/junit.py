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
    suite, found = _xml(suite), [case.outcome for case in page.cases]
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(found)),
        failures=str(found.count("fail")),
        skipped=str(found.count("unknown")),
        errors=str(found.count("error")),
    )
    for one in page.cases:
        told, about = _xml(one.text), {"classname": f"{suite}.{page.command}"}
        case = ElementTree.SubElement(root, "testcase", about, name=_xml(one.name))
        if one.outcome in ELEMENTS:
            ElementTree.SubElement(case, ELEMENTS[one.outcome], message=told)
        ElementTree.SubElement(case, "system-out").text = told
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Text with what XML has no way to write written out."""
    return NO_XML.sub(lambda found: ascii(found[0])[1:-1], visible(text))
