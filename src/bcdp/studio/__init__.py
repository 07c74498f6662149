"""The studio: one page on this machine where a collection is planned, and what a promise costs is seen beforehand.

Every number comes from the functions behind the commands. Requests are answered from what they bring: nothing that is
entered or dropped on the page is kept, written down or logged, until a collection is started.
"""

from bcdp.studio.templates import Template, load_templates

__all__ = ["Template", "load_templates"]
