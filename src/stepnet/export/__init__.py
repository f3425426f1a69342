"""Fitted estimators as files for other programs and for people: C, ONNX, JSON, SQL, rules, a page, LaTeX, Markdown."""

from stepnet.export.c_file import size_of, to_c
from stepnet.export.check import ExportError, check_export, run_c
from stepnet.export.html_file import to_html
from stepnet.export.json_file import to_json
from stepnet.export.onnx_file import doubt, run_onnx, to_onnx
from stepnet.export.papers import to_markdown, to_tex
from stepnet.export.rules import to_rules
from stepnet.export.size import CodeSize
from stepnet.export.sql_file import to_sql

__all__ = [
    "CodeSize",
    "ExportError",
    "check_export",
    "doubt",
    "run_c",
    "run_onnx",
    "size_of",
    "to_c",
    "to_html",
    "to_json",
    "to_markdown",
    "to_onnx",
    "to_rules",
    "to_sql",
    "to_tex",
]
