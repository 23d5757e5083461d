"""Facts about each data set in one form, so that scripts, errors and documentation agree."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Contents, origin and verification of a data set.

    Attributes
    ----------
    name : str
        Key in `paucens.datasets.REGISTRY`.
    what : str
        Contents, size and class balance.
    source : str
        Where to get it, written for a reader who does so by hand.
    terms : str
        Terms of use, as far as they are known.
    check : str
        What the loader verifies before it returns.
    loader : callable
        Function of `paucens.datasets` that reads it.
    folder : str, default=""
        Sub-folder of a data folder that is searched first.
    forms : tuple of tuple of str, default=()
        Alternatives on the disk, best first. Each lists the names of files (or folders) that belong together. Empty for
        sets that are generated or bundled.
    stand_in_for : str, default=""
        Name of the set that this one replaces if that is missing. Numbers of a stand-in never stand beside the
        paper's.
    """

    name: str
    what: str
    source: str
    terms: str
    check: str
    loader: Callable
    folder: str = ""
    forms: tuple[tuple[str, ...], ...] = ()
    stand_in_for: str = ""

    @property
    def title(self) -> str:
        """Name for a CSV, a table or a picture; a stand-in always says that it is one."""
        return f"{self.name} (stand-in for {self.stand_in_for})" if self.stand_in_for else self.name

    @property
    def files(self) -> str:
        """The files of each form in a sentence; empty if there are none."""
        names = ", or ".join(" with ".join(form) for form in self.forms)
        return f"{names}, in {self.folder}/ of a data folder or in the folder itself" if names else ""

    def describe(self) -> str:
        """Write the entry as text, one wrapped paragraph per field."""
        fields = {
            "what": self.what,
            "stand-in": self.stand_in_for and f"for {self.stand_in_for}; never beside the paper's numbers",
            "files": self.files,
            "source": self.source,
            "terms": self.terms,
            "check": self.check,
            "loader": f"paucens.datasets.{self.loader.__name__}",
        }
        indent = " " * 16
        lines = (
            textwrap.fill(f"  {label + ':':<14}{text}", 100, subsequent_indent=indent, break_on_hyphens=False)
            for label, text in fields.items()
            if text
        )
        return "\n".join([self.title, *lines])
