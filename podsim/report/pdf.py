"""A handout as PDF: its page, printed by WeasyPrint."""

import logging
from typing import Any, Final

from podsim.errors import InputError
from podsim.report import page
from podsim.report.handout import Cover, Handout

IDENTIFIER: Final = b"podsim"
"""The same in each file, where a random one would make the same answer another file."""


def pdf(handout: Handout, cover: Cover) -> bytes:
    """The whole document on A4, tagged for screen readers.

    Raises InputError, code `missing-package`, where the library Pango that WeasyPrint draws letters with is not
    installed.
    """
    weasyprint = _weasyprint()
    for name in ("weasyprint", "fontTools"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # of rules of the page that are for screens
    document = weasyprint.HTML(string=page.html(handout, cover), url_fetcher=_refuse)
    content: bytes = document.write_pdf(pdf_variant="pdf/ua-1", pdf_identifier=IDENTIFIER, full_fonts=False)
    return content


def _weasyprint() -> Any:  # noqa: ANN401  (a package without types)
    try:
        import weasyprint
    except OSError as error:
        raise InputError(
            "a PDF needs Pango, which is not installed",
            code="missing-package",
            context=[str(error).splitlines()[0]],
            hint="apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0, or --out report.html and print it",
        ) from None
    return weasyprint


def _refuse(url: str) -> dict[str, object]:
    """What WeasyPrint gets for an address: nothing, since a page needs nothing else."""
    raise ValueError(f"a page loads nothing: {url}")
