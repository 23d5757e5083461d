"""Every script: what its docstring says, and that its committed table and picture follow from its committed CSV."""

import importlib
import shutil
from pathlib import Path

import all as all_scripts
import pytest

from paucens.plotting import texts_outside

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


@pytest.fixture(scope="module", params=NAMES)
def redrawn(request, tmp_path_factory):
    """A script that has drawn its committed figures again, elsewhere."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param)
    for path in (ROOT / "figures").glob(f"{name}*.csv"):
        shutil.copy(path, folder)
    return importlib.import_module(name).main(["--scale", "paper", "--redraw", "--out", str(folder)])


def test_the_committed_table_follows_from_the_csv(redrawn):
    committed, drawn = (folder / f"{redrawn.name}.md" for folder in (ROOT / "figures", redrawn.folder))
    assert drawn.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8")


def test_no_text_of_a_picture_is_cut(redrawn):
    assert texts_outside(redrawn.figure) == []
