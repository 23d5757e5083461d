"""Check that every link within the built pages leads somewhere: python docs/check_links.py FOLDER

Links to other sites are not followed. The exit code is 1 if a file or an anchor is missing.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "img": "src", "link": "href", "script": "src", "source": "src"}


class Page(HTMLParser):
    """What a page links to, and the anchors that it has.

    Attributes
    ----------
    links : list of str
    anchors : set of str
    """

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if values.get(LINKS.get(tag)):
            self.links.append(values[LINKS[tag]])


def broken_links(folder):
    """List the links that lead nowhere.

    Parameters
    ----------
    folder : path-like
        Holds the built pages.

    Returns
    -------
    broken : list of (Path, str)
        The page and its link.
    """
    folder = Path(folder).resolve()
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]  # templates of the theme
    pages = {path: Page(path) for path in files}
    return [
        (path.relative_to(folder), link)
        for path, page in pages.items()
        for link in dict.fromkeys(page.links)
        if not leads_somewhere(path, link, folder, pages)
    ]


def leads_somewhere(path, link, folder, pages):
    """Tell whether a link of a page is one to another site, or its file and anchor exist."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target /= "index.html"
    anchor = unquote(parts.fragment)
    if target not in pages:
        return target.is_relative_to(folder) and target.is_file() and not anchor
    return not anchor or anchor in pages[target].anchors


if __name__ == "__main__":
    found = broken_links(sys.argv[1])
    print("\n".join(f"{page}: {link}" for page, link in found) or "All links within the pages lead somewhere.")
    sys.exit(bool(found))
