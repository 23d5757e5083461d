"""Pages that are made of code and results: none is forgotten, and broken links are found."""

import doctest
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def modules(monkeypatch):
    """Import the programs of `docs/`, which are not on the path of other tests, and forget them again."""
    monkeypatch.syspath_prepend(str(DOCS))
    import api_pages
    import check_links
    import reproduction_pages

    yield api_pages, reproduction_pages, check_links
    for name in ("api_pages", "check_links", "reproduction_pages"):
        del sys.modules[name]


def test_every_script_has_a_page(modules, tmp_path):
    _, reproduction_pages, _ = modules
    reproduction_pages.write(tmp_path)
    overview = (tmp_path / "index.md").read_text(encoding="utf-8")
    scripts = {path.stem for path in (DOCS.parent / "reproduce").glob("*.py")}
    scripts -= {"all", "boosters", "features", "report", "splits"}  # modules without a command of their own
    for name in scripts:
        page = (tmp_path / f"{name}.md").read_text(encoding="utf-8")
        assert f"```sh\npython reproduce/{name}.py --scale paper" in page
        assert "## Protocol" in page and "## Results" in page
        assert f":link: {name}\n" in overview
    assert {path.stem for path in tmp_path.glob("*.md")} == scripts | {"index", "errata", "data"}


def test_a_page_has_what_its_script_left(modules, tmp_path):
    _, reproduction_pages, _ = modules
    reproduction_pages.write(tmp_path)
    page = (tmp_path / "table_4.md").read_text(encoding="utf-8")
    table = (DOCS.parent / "figures" / "table_4.md").read_text(encoding="utf-8")
    assert page.startswith("# Table 4\n\nPartial AUC on [0, 0.1] of methods")
    assert all(line in page for line in table.splitlines() if line.startswith("|"))
    places = [page.index(f"## {heading}") for heading in ("Claim", "Results", "Protocol", "Where we depart", "Command")]
    assert places == sorted(places)
    assert "has not been run" not in page


def test_a_script_without_results_says_so(modules, tmp_path, monkeypatch):
    _, reproduction_pages, _ = modules
    had = reproduction_pages.has_results
    monkeypatch.setattr(reproduction_pages, "has_results", lambda name: had(name) and name != "table_4")
    reproduction_pages.write(tmp_path)
    assert "has not been run at the scale of the paper yet" in (tmp_path / "table_4.md").read_text(encoding="utf-8")
    assert "(table_4.md)" in (tmp_path / "index.md").read_text(encoding="utf-8")


def test_an_unknown_script_is_an_error(modules):
    _, reproduction_pages, _ = modules
    scripts = reproduction_pages.read_scripts()
    reproduction_pages.check_complete(scripts)
    with pytest.raises(ValueError, match=r"reproduce/table_9\.py is in no group: change GROUPS"):
        reproduction_pages.check_complete(scripts | {"table_9": "Table 9: new."})
    del scripts["table_4"]
    with pytest.raises(ValueError, match=r"reproduce/table_4\.py does not exist"):
        reproduction_pages.check_complete(scripts)


def test_every_part_of_the_package_has_a_page(modules, tmp_path, monkeypatch):
    api_pages, _, _ = modules
    api_pages.write(tmp_path)
    page = (tmp_path / "metrics.rst").read_text(encoding="utf-8")
    for name in ("paucens.partial_auc", "paucens.metrics.rank_range"):
        assert f".. autofunction:: {name}\n" in page
    assert "set_fit_request" not in (tmp_path / "ensemble.rst").read_text(encoding="utf-8")
    monkeypatch.setattr(api_pages, "PARTS", [part for part in api_pages.PARTS if part != "metrics"])
    with pytest.raises(ValueError, match=r"No page of the API is about paucens\.metrics"):
        api_pages.write(tmp_path)


def test_examples_of_these_programs(modules):
    assert all(doctest.testmod(module).failed == 0 for module in modules)


def test_broken_links_are_found(modules, tmp_path):
    _, _, check_links = modules
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a> <a href="https://example.org/x">2</a> <a href="#top">3</a> <h1 id="top"></h1>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html?v=1#top">1</a> <p id="here"></p> <img src="c.png">')
    assert check_links.broken_links(tmp_path) == [(Path("b.html"), "c.png")]
    (tmp_path / "c.png").touch()
    assert check_links.broken_links(tmp_path) == []
    (tmp_path / "b.html").write_text("<p id='there'></p>")
    assert check_links.broken_links(tmp_path) == [(Path("a.html"), "b.html#here")]
