"""The pages that a reader sees, README and user guide, taken apart: their code, what it prints, and marked numbers."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide"
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted(GUIDE.glob("*.md"))]
FENCED = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"```(?P<kind>python|console)\n(?P<code>.*?)```\n"
    r"(?:\n```text\n(?P<output>.*?)```\n)?",
    flags=re.DOTALL,
)
MARKED = re.compile(r"<!-- numbers: (?P<name>\w+) -->\n(?P<text>.*?)(?:\n\n|\Z)", flags=re.DOTALL)


class Block(NamedTuple):
    """A piece of code, the line on which it begins, what it should print, and why it is not run, if it is not."""

    kind: str
    line: int
    code: str
    output: str
    reason: str | None


def blocks(page):
    """List the Python code and the shell transcripts of a page."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["kind"],
            text.count("\n", 0, found.start("code")) + 1,
            found["code"],
            found["output"] or "",
            found["reason"],
        )
        for found in FENCED.finditer(text)
    ]


def commands(transcript):
    """Split a transcript into pairs of a command and what it prints."""
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        command, _, output = part.replace("\\\n", " ").partition("\n")
        yield command, output


def marked_numbers(page):
    """List pairs of the name of a check and the paragraph or table that follows it."""
    return [(found["name"], found["text"]) for found in MARKED.finditer(page.read_text(encoding="utf-8"))]
