"""A report on a fitted model: what it learned, how large, how good and how sure it is, and how to use it."""

from stepnet.report.console import to_text
from stepnet.report.content import Report
from stepnet.report.html import to_html
from stepnet.report.markdown import to_markdown

__all__ = ["Report", "to_html", "to_markdown", "to_text"]
