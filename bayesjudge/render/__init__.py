"""What writes a page: a screen, HTML, Markdown, JSON, JUnit XML.

A `Page` (in ``page.py``) knows no module, and what writes it knows pages only: a new format is one
file here.
"""
