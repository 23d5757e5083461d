"""`load_toolbox`: which files are models and detections, gzipped or not."""

import gzip

from paucens.datasets import load_toolbox


def test_files_are_listed_by_name_gzipped_or_not(tmp_path):
    for folder in ("models", "detections"):
        (tmp_path / "toolbox" / folder).mkdir(parents=True)
    for name in ("A.mat", "B.mat.gz", "._A.mat", "readme.md"):
        (tmp_path / "toolbox" / "models" / name).touch()
    line = b"2,10,20,41,100,3.5\n"
    (tmp_path / "toolbox" / "detections" / "ADets.txt").write_bytes(line)
    (tmp_path / "toolbox" / "detections" / "BDets.txt.gz").write_bytes(gzip.compress(line))
    toolbox = load_toolbox(tmp_path)
    assert {name: path.name for name, path in toolbox.models.items()} == {"A": "A.mat", "B": "B.mat.gz"}
    assert {name: rows.tolist() for name, rows in toolbox.detections.items()} == {
        name: [[2, 10, 20, 41, 100, 3.5]] for name in ("ADets", "BDets")
    }
