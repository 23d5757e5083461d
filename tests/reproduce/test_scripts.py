"""Every script: what its docstring says, and that its committed table and picture follow from its committed CSV."""

import importlib
from pathlib import Path

import all as all_scripts
import pytest

import detectors
from harness import Run
from pictures import texts_outside

ROOT = Path(__file__).resolve().parents[2]
NAMES = all_scripts.script_names()


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_says_how_to_run_it(name, capsys):
    script = importlib.import_module(name)
    assert f"python reproduce/{name}.py --scale paper" in script.__doc__
    assert "Protocol" in script.__doc__ or "Measure" in script.__doc__
    with pytest.raises(SystemExit) as leaving:
        script.main(["--help"])
    assert leaving.value.code == 0 and script.__doc__.strip() in capsys.readouterr().out


class Redrawn(Run):
    """A run that keeps its table instead of writing it."""

    text = ""

    def write(self, text, figure):
        self.text, self.figure = text, figure
        return self


@pytest.fixture(scope="module", params=NAMES)
def redrawn(request):
    """Table and picture of a script, from its committed CSV."""
    if not (ROOT / "figures" / f"{request.param}.csv").exists():
        pytest.skip(f"figures/{request.param}.csv is missing: reproduce/{request.param}.py --scale paper makes it")
    script = importlib.import_module(request.param)
    protocol = getattr(script, "PROTOCOLS", detectors.PROTOCOLS)["paper"]
    return script.main(Redrawn(request.param, protocol, "paper", 0, 1, None, None, True, None))


def test_the_committed_table_follows_from_the_csv(redrawn):
    assert redrawn.text == (ROOT / "figures" / f"{redrawn.name}.md").read_text(encoding="utf-8")


def test_no_text_of_a_picture_is_cut(redrawn):
    assert texts_outside(redrawn.figure) == []
