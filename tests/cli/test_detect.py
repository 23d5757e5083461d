"""`paucens detect`: images of all kinds of sources in, boxes out; interrupted, resumed, drawn."""

import io
import json
import os
import signal
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from caltech_files import encoded, write_seq
from PIL import Image
from tiny_detector import tiny_detector

from paucens.cli import main
from paucens.cli.sources import images_of
from paucens.detector import PedestrianDetector
from paucens.formats import read_detections
from paucens.images import read_rgb


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small detector, and a folder of six small images; one more is no image."""
    folder = tmp_path_factory.mktemp("detect")
    tiny_detector().save(folder / "tiny.npz")
    (folder / "photos").mkdir()
    rng = np.random.default_rng(0)
    for k in range(6):
        Image.fromarray(rng.integers(256, size=(40, 48, 3)).astype(np.uint8)).save(folder / "photos" / f"{k:03d}.png")
    (folder / "photos" / "notes.txt").write_text("not an image")
    return folder


def arguments(folder, *more):
    return ["detect", str(folder / "photos"), "-m", str(folder / "tiny.npz"), "--threshold", "-9", *more]


def expected(folder):
    detector = PedestrianDetector.load(folder / "tiny.npz")
    images = sorted((folder / "photos").glob("*.png"))
    return {str(image): detector.detect(read_rgb(image), threshold=-9) for image in images}


def same(found, wanted):
    assert [str(image) for image in found] == list(wanted)
    for boxes, others in zip(found.values(), wanted.values(), strict=True):
        np.testing.assert_array_equal(boxes, others)
    assert sum(map(len, wanted.values())) > 0


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_boxes_are_those_of_detect(folder, tmp_path, form, jobs):
    file = tmp_path / f"boxes.{form}"
    assert main(arguments(folder, "-o", str(file), "--jobs", jobs)) == 0
    same(dict(read_detections(file)), expected(folder))
    assert os.listdir(tmp_path) == [file.name]


def test_a_model_file_that_was_replaced_is_read_again(folder, tmp_path, monkeypatch):
    """Also by its name in another folder, as of two projects whose detectors are called the same."""
    found = []
    for name, more in (("one", 0), ("other", 1)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        detector = PedestrianDetector.load(folder / "tiny.npz")
        replace(detector, trees=replace(detector.trees, bias=detector.trees.bias + more)).save("tiny.npz")
        assert main(["detect", str(folder / "photos"), "-m", "tiny.npz", "--threshold", "-9", "-o", "boxes.jsonl"]) == 0
        found.append(max(boxes[:, 4].max(initial=-np.inf) for _, boxes in read_detections("boxes.jsonl")))
    assert found[1] == pytest.approx(found[0] + 1, abs=1e-5)


def test_standard_output_is_a_table(folder, tmp_path, capsys):
    assert main(arguments(folder)) == 0
    (tmp_path / "boxes.csv").write_text(capsys.readouterr().out)
    same(dict(read_detections(tmp_path / "boxes.csv")), expected(folder))


def test_every_other_image_of_a_list(folder, tmp_path, monkeypatch, capsys):
    names = [str(folder / "photos" / f"{k:03d}.png") for k in (3, 1, 0)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(names) + "\n\n"))
    options = ["-m", str(folder / "tiny.npz"), "--every", "2", "--format", "jsonl"]
    assert main(["detect", "-", *options]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["image"] for row in rows] == names[::2]


def test_sources_are_folders_patterns_and_files(folder):
    photos = folder / "photos"
    everything = [str(photos / f"{k:03d}.png") for k in range(6)]
    assert [image.name for image in images_of([str(photos)])] == everything
    assert [image.name for image in images_of([str(photos / "00[24].png"), everything[0]])] == [
        everything[2],
        everything[4],
        everything[0],
    ]


def test_frames_of_a_video_are_numbered(folder, tmp_path, capsys):
    frames = [encoded(read_rgb(folder / "photos" / f"{k:03d}.png"), "PNG") for k in range(3)]
    video = bytearray(write_seq(tmp_path / "V000.seq", 1, frames).read_bytes())
    video[548:556] = struct.pack("<2I", 48, 40)  # width and height in the header
    (tmp_path / "V000.seq").write_bytes(video)
    options = ["-m", str(folder / "tiny.npz"), "--threshold", "-9", "--format", "jsonl"]
    assert main(["detect", str(tmp_path / "V000.seq"), *options]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["image"] for row in rows] == [f"{tmp_path}/V000.seq/{k:06d}" for k in range(3)]
    assert [row["detections"] for row in rows] == [boxes.tolist() for boxes in list(expected(folder).values())[:3]]


def test_an_unreadable_image_is_named_and_left_out(folder, tmp_path, capsys):
    (tmp_path / "a.png").write_bytes((folder / "photos" / "000.png").read_bytes()[:60])
    (tmp_path / "b.png").write_bytes((folder / "photos" / "001.png").read_bytes())
    out = tmp_path / "boxes.csv"
    code = main(["detect", str(tmp_path), "-m", str(folder / "tiny.npz"), "-o", str(out)])
    message = capsys.readouterr().err
    assert code == 1 and "a.png" in message and "1 images could not be read" in message
    assert [image.name for image, _ in read_detections(out)] == ["b.png"]


def test_pictures_are_drawn(folder, tmp_path):
    assert main(arguments(folder, "-o", str(tmp_path / "b.csv"), "--draw", str(tmp_path / "drawn"))) == 0
    pictures = sorted((tmp_path / "drawn").iterdir())
    assert len(pictures) == 6 and pictures[0].name.endswith("photos_000.jpg")
    assert Image.open(pictures[0]).size == (48, 40)


# -- interruptions ---------------------------------------------------------------------------------


def test_a_killed_run_goes_on(folder, tmp_path):
    """The process is killed when some images are done; those are not looked at again."""
    out = tmp_path / "boxes.csv"
    journal = tmp_path / "boxes.csv.unfinished"
    command = [sys.executable, "-m", "paucens", *arguments(folder, "-o", str(out))]
    slow = "import time, paucens.cli.detect as d; f = d.find_in\nd.find_in = lambda *a: (time.sleep(0.3), f(*a))[1]\n"
    script = slow + f"from paucens.cli import main; main({command[3:]!r})"
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    while not journal.exists() or len(journal.read_bytes().splitlines()) < 3:
        time.sleep(0.02)
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not out.exists()
    with open(journal, "ab") as file:
        file.write(b'{"image": "cut o')  # a line that the end cut short
    assert main(arguments(folder, "-o", str(out))) == 2
    assert main(arguments(folder, "-o", str(out), "--resume", "--min-height", "40")) == 2  # other arguments
    done = len(journal.read_bytes().splitlines()) - 2
    log = tmp_path / "log.jsonl"
    assert main(arguments(folder, "-o", str(out), "--resume", "--log", str(log))) == 0
    assert len(log.read_text().splitlines()) == 6 - done
    same(dict(read_detections(out)), expected(folder))
    assert not journal.exists()


def test_a_list_of_many_images_takes_no_more_memory(folder, tmp_path):
    """The peak of 3000 images is that of 300, up to a little."""
    script = (
        "import resource, sys; from paucens.cli import main; import paucens.cli.detect as d\n"
        "d.find_in = lambda source, *a: {'image': source.name, 'boxes': [[0, 0, 1, 1, 0.5]] * 50}\n"
        f"main(['detect', '-', '-m', {str(folder / 'tiny.npz')!r}, '-o', sys.argv[1]])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for n in (300, 3000):
        names = [tmp_path / f"{k}.png" for k in range(n)]
        for name in names:
            name.touch()
        command = [sys.executable, "-c", script, str(tmp_path / f"{n}.jsonl")]
        run = subprocess.run(command, input="\n".join(map(str, names)), capture_output=True, text=True)
        peaks.append(int(run.stdout or 0))
        assert run.returncode == 0 and peaks[-1], run.stderr
    assert peaks[1] < 1.05 * peaks[0]


# -- wrong arguments -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--every", "0"], 2, "at least 1"),
        (["--threshold", "nan"], 2, "nan"),
        (["--min-height", "-3"], 2, "min_height"),
        (["--format", "yolo"], 2, "standard output takes csv or jsonl"),
        (["-o", "boxes.what"], 2, "format"),
        (["-m", "none.npz"], 4, "none.npz"),
    ],
)
def test_wrong_arguments(folder, more, code, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(arguments(folder, *more)) == code
    assert message in capsys.readouterr().err
    assert not any(Path().iterdir())


@pytest.mark.parametrize("source", ["none.png", "*.png", "."])
def test_missing_images_end_with_3(folder, source, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["detect", source, "-m", str(folder / "tiny.npz")]) == 3
    assert source in capsys.readouterr().err


def test_boxes_that_a_format_cannot_hold_are_kept(folder, tmp_path, capsys):
    """MOT has no names of images, only numbers of frames."""
    for k, name in enumerate("ab"):
        (tmp_path / f"{name}.png").write_bytes((folder / "photos" / f"00{k}.png").read_bytes())
    line = ["detect", str(tmp_path), "-m", str(folder / "tiny.npz"), "--threshold", "-9", "-o", str(tmp_path / "b.txt")]
    assert main([*line, "--format", "mot"]) == 2
    assert "a.png must end in the number" in (message := capsys.readouterr().err) and "--resume" in message
    log = tmp_path / "log.jsonl"
    assert main([*line, "--format", "csv", "--resume", "--log", str(log)]) == 0
    assert log.read_text() == ""  # nothing was looked at again
    assert [image.name for image, _ in read_detections(tmp_path / "b.txt", "csv")] == ["a.png", "b.png"]


def test_a_folder_that_holds_files_is_refused_before_the_work(folder, tmp_path, capsys):
    (tmp_path / "boxes").mkdir()
    (tmp_path / "boxes" / "mine.txt").write_text("kept")
    assert main(arguments(folder, "-o", str(tmp_path / "boxes"), "--format", "yolo", "--force")) == 2
    assert "not empty" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["boxes", "mine.txt"]


def test_a_journal_that_is_none_is_refused(folder, tmp_path, capsys):
    (tmp_path / "b.csv.unfinished").write_text("something else\n")
    assert main(arguments(folder, "-o", str(tmp_path / "b.csv"), "--resume")) == 2
    assert "of another run" in capsys.readouterr().err
