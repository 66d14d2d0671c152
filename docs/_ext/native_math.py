"""Formulas as MathML, which browsers draw themselves: no page asks another host for a script."""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def mathml(node, as_block):
    """A formula in MathML; as it was written, with a warning, if it cannot be read."""
    try:
        return latex2mathml.tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return node.astext()


def visit_inline(translator, node):
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(f'<div class="math-block">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
