"""What writes a page: a screen, HTML, Markdown, JSON, JUnit XML.

A `Page` (in ``page.py``) knows no module, and what writes it knows pages only. A new format is one
file here: ``NAME.py`` with a function ``to_NAME(page)``, and the ``HELP`` of its option ``--NAME``,
which commands then have. Names of its files may have to end in one of ``ENDS``.
"""
