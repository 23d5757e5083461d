"""Pages of the reproduction: one per script, made of its docstring, its committed table and its committed picture."""

import ast
import re
from pathlib import Path

from api_pages import write_if_new

ROOT = Path(__file__).resolve().parents[1]
GROUPS = {
    "Tables of the paper": tuple(f"table_{number}" for number in range(1, 8)),
    "Figures of the paper": tuple(f"figure_{number}" for number in range(1, 9)),
    "Beyond the paper": tuple(f"beyond_{number}" for number in range(1, 5)),
    "Choices of classifiers": ("defaults", "mixtures", "many_rows"),
    "Choices of detectors": (
        "detector_choice",
        "default_model",
        "ablation",
        "sensitivity",
        "window_size",
        "crop_edges",
        "sharpness",
    ),
}
LEADS = {  # how a part of a docstring begins, and its heading
    "Claim": "Claim",
    "Question": "Question",
    "Protocol": "Protocol",
    "Measure": "Protocol",
    "Where we depart, and why": "Where we depart, and why",
    "What it does not say": "What it does not say",
}
LEAD = re.compile(rf"({'|'.join(LEADS)})(?: \(([^)]*)\))?[.:] ?")
FIRST = ("Claim", "Question")  # before the results; all other parts come after them


def write(folder):
    """Write an overview, a page per script and the errata into a folder.

    Raises
    ------
    ValueError
        If a script belongs to no group, or a group names a script that does not exist.
    """
    scripts = read_scripts()
    check_complete(scripts)
    for name, docstring in scripts.items():
        write_if_new(folder / f"{name}.md", page_of(name, docstring, scripts))
    write_if_new(folder / "index.md", overview(scripts))
    for page, source in {"errata": "ERRATA.md", "data": "data/README.md"}.items():
        write_if_new(folder / f"{page}.md", f"```{{include}} ../../{source}\n```\n")


def read_scripts(folder=ROOT / "reproduce"):
    """Map the names of the scripts, the modules that say how to run them, to their docstrings."""
    found = {path.stem: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in folder.glob("*.py")}
    return {name: text for name, text in found.items() if f"python reproduce/{name}.py --scale paper" in text}


def check_complete(scripts):
    """Raise ValueError unless the groups name each script once."""
    named = [name for group in GROUPS.values() for name in group]
    for name in sorted(scripts.keys() ^ set(named)):
        state = "is in no group" if name in scripts else "does not exist or does not say how to run it"
        raise ValueError(f"reproduce/{name}.py {state}: change GROUPS in docs/reproduction_pages.py.")


def has_results(name):
    return (ROOT / "figures" / f"{name}.md").exists()


# -- the page of a script ------------------------------------------------------------------------


def page_of(name, docstring, scripts):
    """Write the page of a script: title, claim, results, protocol, departures, command."""
    title, parts = parts_of(docstring)
    short, about = two_titles(title)
    before = [part for part in parts if part[0].startswith(FIRST)]
    after = [part for part in parts if part not in before]
    written = [f"## {heading}\n\n{linked(text, scripts)}" for heading, text in before]
    written.append(results_of(name, title))
    written += [f"## {heading}\n\n{linked(text, scripts)}" for heading, text in after]
    return "\n\n".join([f"# {short}", *([about] if about else []), *written]) + "\n"


def two_titles(title):
    """Split a title into what comes before its colon, and a sentence of the rest.

    Examples
    --------
    >>> two_titles("Table 1: its cost")
    ('Table 1', 'Its cost.')
    """
    short, _, rest = title.partition(": ")
    return short, rest[:1].upper() + rest[1:] + ("" if not rest or rest.endswith("?") else ".")


def parts_of(docstring):
    """Split a docstring into its title and pairs of a heading and Markdown.

    Examples
    --------
    >>> docstring = "Table 1: its cost.\\n\\nClaim (Sec. 3). It is low.\\n\\n    python table_1.py\\n\\nAn hour."
    >>> title, parts = parts_of(docstring)
    >>> title, parts[0]
    ('Table 1: its cost', ('Claim (Sec. 3)', 'It is low.'))
    >>> parts[1]
    ('Command', '```sh\\npython table_1.py\\n```\\n\\nAn hour.')
    """
    title, *paragraphs = docstring.split("\n\n")
    parts = []
    for paragraph in paragraphs:
        if lead := LEAD.match(paragraph):
            heading = LEADS[lead[1]] + (f" ({lead[2]})" if lead[2] else "")
            parts.append((heading, paragraph[lead.end() :].lstrip("\n")))
        elif paragraph.startswith("    python "):
            parts.append(("Command", command_of(paragraph)))
        else:
            heading, text = parts.pop() if parts else ("Protocol", "")
            parts.append((heading, f"{text}\n\n{paragraph}".strip()))
    return " ".join(title.split()).removesuffix("."), [(heading, text.replace("<", "\\<")) for heading, text in parts]


def command_of(paragraph):
    """Write a command as a block of code, and what stands behind it in brackets below."""
    command, _, remark = paragraph.strip().partition("    ")
    block = f"```sh\n{command}\n```"
    return f"{block}\n\n{remark.strip('() ').capitalize()}." if remark else block


def linked(text, scripts):
    """Make links of the names of scripts, of the errata and of the page about data sets."""
    places = {f"`{name}.py`": name for name in scripts} | {f"`reproduce/{name}.py`": name for name in scripts}
    places |= {"`data/README.md`": "data", "ERRATA.md": "errata"}
    names = "|".join(re.escape(name) for name in sorted(places, key=len, reverse=True))
    return re.sub(names, lambda found: f"[{found[0]}]({places[found[0]]}.md)", text)


def results_of(name, title):
    """Write the part of a page with the picture, the tables and the files of a script."""
    if not has_results(name):
        return "## Results\n\n```{note}\nThis script has not been run at the scale of the paper yet.\n```"
    figures = ROOT / "figures"
    _, _, table = (figures / f"{name}.md").read_text(encoding="utf-8").partition("\n")
    table = re.sub(r"^#", "##", table, flags=re.MULTILINE).strip()
    table = re.sub(r"(?:^\|.*$\n?)+", ":::{container} numbers\n\\g<0>\n:::\n", table, flags=re.MULTILINE)
    picture = f"```{{image}} ../../figures/{name}.png\n:alt: {title}\n```"
    files = [path.name for suffix in ("csv", "pdf") for path in sorted(figures.glob(f"{name}.{suffix}"))]
    links = ", ".join(f"{{download}}`{file} <../../figures/{file}>`" for file in files)
    return f"## Results\n\n{picture}\n\n{table}\n\nFiles: {links}."


# -- the overview --------------------------------------------------------------------------------

OVERVIEW = """\
# Reproduction

One script per table and figure makes the paper's numbers, ours and the difference. Everything on these pages is made
from the scripts in `reproduce/` and from what they left in `figures/` at the scale of the paper.

```sh
make reproduce                             # all, in miniature
python reproduce/table_5.py --scale paper  # one, in full
```

[Data sets](data.md) says where to get them. Scripts whose data are missing say so and are left out. What does
not hold in the paper as printed is in the [errata](errata.md), each with the test that shows it.

## What is open

{open}
"""
GROUP = """
## {title}

::::{{grid}} 1 2 3 3
:gutter: 3

{cards}

::::

```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
CARD = """\
:::{{grid-item-card}} {title}
:link: {name}
:link-type: doc
{picture}
{text}
:::"""
MORE = """
```{toctree}
:hidden:
:caption: More

errata
data
```
"""


def overview(scripts):
    """Write the first page: what is open, and a card per script."""
    waiting = [name for name in scripts if not has_results(name)]
    rows = "\n".join(f"- [{parts_of(scripts[name])[0]}]({name}.md)" for name in sorted(waiting))
    text = f"These scripts have not been run at the scale of the paper yet:\n\n{rows}" if rows else "No script."
    groups = "".join(
        GROUP.format(
            title=title, cards="\n\n".join(card_of(name, scripts[name]) for name in names), pages="\n".join(names)
        )
        for title, names in GROUPS.items()
    )
    return OVERVIEW.format(open=text) + groups + MORE


def card_of(name, docstring):
    """Write the card of a script, with its picture if there is one."""
    title, text = two_titles(parts_of(docstring)[0])
    picture = f":img-bottom: ../../figures/{name}.png\n" if has_results(name) else ""
    return CARD.format(title=title, name=name, picture=picture, text=text)
