"""Formulas as MathML, which browsers draw themselves: no script, no font and no network."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer, node):
    writer.body.append(_converted(node))
    raise nodes.SkipNode


def _block(writer, node):
    writer.body.append(f'<div class="math">{_converted(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _converted(node, as_block=False):
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return ""
