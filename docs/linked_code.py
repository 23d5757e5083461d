"""The role of text between single backticks in docstrings: code, with a link if it is a public name of the package."""

import inspect

from api_pages import PARTS, imported, members_of, names_of, public_name
from docutils import nodes
from sphinx import addnodes


def link_targets():
    """Map what docstrings call a class or function to the name it is documented under.

    A name that is also one of a parameter or of a method may mean that, so it is no link.
    """
    targets, others = {}, set()
    for module in map(imported, PARTS):
        for name in names_of(module):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isroutine(thing):
                full = public_name(module, name)
                targets |= {name: full, full: full, f"{module.__name__}.{name}": full}
                others |= inspect.signature(thing).parameters.keys()
            if inspect.isclass(thing):
                others |= set(members_of(thing))
    return {name: full for name, full in targets.items() if name not in others}


def make_role():
    """Return the role, a function as docutils calls it."""
    targets = link_targets()

    def role(name, rawtext, text, lineno, inliner, options=None, content=()):
        code = nodes.literal(rawtext, text)
        if text not in targets:
            return [code], []
        link = addnodes.pending_xref(
            rawtext, code, refdomain="py", reftype="obj", reftarget=targets[text], refexplicit=True, refwarn=True
        )
        link["refdoc"] = inliner.document.settings.env.docname
        return [link], []

    return role
