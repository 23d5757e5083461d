"""Read annotations line by line; errors name the line."""

from pathlib import Path

from paucens.datasets._files import damaged


def numbered_lines(path) -> list[tuple[int, str]]:
    """List the lines of a text that are not blank, stripped, with their numbers from 1."""
    text = Path(path).read_text(encoding="latin-1")  # never fails; anything but text fails as a line
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def bad_line(path, number, line, expected) -> ValueError:
    """Return the error for a line that is not as `expected`."""
    return damaged(path, f"line {number} is {line!r:.160}; expected {expected}")


def numbers_of(path, number, texts, expected) -> list[float]:
    """Convert the texts of a line to finite numbers, or raise its error."""
    try:
        values = [float(text) for text in texts]
    except ValueError as error:
        raise bad_line(path, number, " ".join(texts), expected) from error
    if any(value - value != 0 for value in values):  # inf and nan
        raise bad_line(path, number, " ".join(texts), f"{expected}, all of them finite")
    return values
