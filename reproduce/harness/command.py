"""The command line of a script: what is run, on which data, and where its files go."""

import argparse
import sys
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from harness import cluster, data, journal
from paucens.plotting import house_style, save_figure

ROOT = Path(__file__).resolve().parents[2]


class MissingData(FileNotFoundError):
    """None of the data sets that a script needs is on the disk; the message says how to get them."""


@dataclass
class Run:
    """One run of a script. It goes to worker processes with every case, so it holds no data.

    `sources` is what the provenance says of the data, by title; `figure` is the picture, once it is drawn.
    """

    name: str
    protocol: object
    scale: str
    seed: int
    jobs: int
    data_folder: Path | None
    out: Path | None
    redraw: bool
    scheduler: str | None
    sources: dict = field(default_factory=dict)
    figure: object = None
    keep: bool = False

    @classmethod
    def of(cls, file, about, protocols, argv=None):
        """Read the command line of the script in `file`; `argv` may also be a Run that is ready."""
        if isinstance(argv, Run):
            return argv
        parser = argparse.ArgumentParser(file, description=about, allow_abbrev=False)
        parser.formatter_class, add = argparse.RawDescriptionHelpFormatter, parser.add_argument
        add("--scale", choices=protocols, default="small", help="smoke: seconds; small: a minute; paper: in full")
        add("--seed", type=_natural, default=0, help="source of all random numbers (default 0)")
        add("--jobs", type=_natural, default=2, help="processes; results do not depend on it (default 2)")
        add("--backend", choices=("processes", "dask"), default="processes", help="where cases run")
        add("--scheduler", metavar="ADDRESS", help="of the Dask cluster, such as tcp://host:8786")
        add("--data", type=Path, metavar="DIR", dest="data_folder", help="data sets, searched first (default data/)")
        add("--out", type=Path, metavar="DIR", help="where to write (default build/figures/SCALE; paper: figures/)")
        add("--redraw", action="store_true", help="only make table and picture from the CSV that is there")
        add("--keep", action="store_true", help="keep results of other versions; the provenance names all of them")
        given = vars(parser.parse_args(argv))
        if (given.pop("backend") == "dask") != (given["scheduler"] is not None):
            parser.error("--backend dask and --scheduler ADDRESS (such as tcp://host:8786) go together; one is missing")
        if given["scheduler"] and find_spec("distributed") is None:
            parser.error("--backend dask needs the package distributed: pip install 'paucens[dask]'")
        return cls(Path(file).stem, protocols[given["scale"]], **given)

    @property
    def folder(self):
        """Folder to write to; `figures/` is for real data at paper scale."""
        is_final = self.scale == "paper" and not any(map(data.is_stand_in, self.sources))
        return self.out or ROOT / ("figures" if is_final else f"build/figures/{self.scale}")

    def data(self, *names):
        """Load the data sets that are on the disk, or stand-ins: a dict of title to Bunch, empty with --redraw.

        How to get the others is printed; if none is there, MissingData says it.
        """
        found, misses = ({}, []) if self.redraw else data.available(names, self.data_folder)
        if misses and not found:
            raise MissingData("\n".join(misses))
        for message in misses:
            print(f"{message}\nUntil then it is left out.\n")
        for title, bunch in found.items():
            self.sources[title] = {"content_hash": bunch.content_hash, "shape": list(np.shape(bunch.data))}
        return found

    def load(self, title):
        """Load one of these data sets where a case is measured, once per process."""
        bunch = data.load(title, self.data_folder)
        if bunch.content_hash != self.sources[title]["content_hash"]:
            raise ConnectionError(f"A worker has other data of {title} than this machine; give it the same files.")
        return bunch

    def rows(self, name, measure, cases):
        """Measure the cases that have not been measured yet; return the rows of all, a DataFrame as in `<name>.csv`.

        `measure` is a function of a module, (run, case) -> list of dict; it goes to other processes. `cases` are dicts
        of names and numbers, all of the same keys: the first columns, to which `seed` and `scale` are added.
        """
        path = self.folder / f"{name}.csv"
        if not self.redraw:
            origin = {
                "script": f"reproduce/{self.name}.py",
                "arguments": {"scale": self.scale, "seed": self.seed},
                "protocol": asdict(self.protocol),
                "data": self.sources,
                "versions": cluster.versions(),
                "csv": path.name,
            }  # no path, host or date: equal runs write equal files
            cases = [case | {"seed": self.seed, "scale": self.scale} for case in cases]
            with cluster.executor(self.scheduler, self.jobs) as executor:
                journal.collect(path, partial(measure, self), cases, origin, executor, self.keep)
        if not path.exists():
            raise FileNotFoundError(f"{path} is not there to be drawn; run the script without --redraw first.")
        return pd.read_csv(path, keep_default_na=False, na_values=[""])

    def write(self, text, figure):
        """Write and print the table, save the picture as PNG and PDF."""
        self.figure, stem = figure, self.folder / self.name
        journal.write(stem.with_suffix(".md"), text)
        with house_style():
            save_figure(figure, stem)
        print(f"\n{text}\nwrote {stem.relative_to(ROOT) if stem.is_relative_to(ROOT) else stem}.md, .png and .pdf")
        return self


def _natural(text):
    if int(text) < 0:
        raise argparse.ArgumentTypeError(f"it must be 0 or more; got {text}")
    return int(text)


def exit_code(main):
    """Run a script: 0, or 1 after an error that its user can mend, or 130 after Ctrl-C."""
    try:
        main()
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on from what is saved.")
        return 130
    except (FileNotFoundError, ConnectionError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0
