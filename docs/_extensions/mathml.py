"""Formulas as MathML, which browsers draw themselves: no script, no font, no other host."""

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def inline(translator, node):
    """Write a formula within a sentence."""
    translator.body.append(tex2mathml(node.astext()))
    raise SkipNode


def display(translator, node):
    """Write a formula that stands alone."""
    translator.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def setup(app):
    """Register the renderer under its name in ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
