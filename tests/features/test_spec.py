"""ChannelSpec and Preset: parsing, names, channels, variations, and the authors' program on two images."""

import json
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paucens.features import PRESETS, ChannelSpec, Preset

ALL = "M+O+LUV+spCov+spLBP"
GOLDEN = json.loads((Path(__file__).parent / "golden" / "release_channels.json").read_text(encoding="utf-8"))
PADDING = 2  # cells around the release's channels


def quadratic(r, c, k):
    return (3 * r * r + 5 * c * c + 7 * (k + 1) * r * c + 11 * k * r) % 256


def sinus(r, c, k):
    waves = np.sin(2 * np.pi * (r * (k + 1) / 37 + c / (13 + 4 * k))) * np.cos(2 * np.pi * (r - 2 * c) / (29 + k))
    return np.floor(127.5 * (1 + waves))


FORMULAS = {"quadratic": quadratic, "sinus": sinus}


def made_by_formula(name):
    return FORMULAS[name](*np.indices((64, 48, 3))).astype(np.uint8)


def noise(height, width, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (height, width, 3)).astype(np.uint8)


# ------------------------------------------------------------------------------------------ the name


@pytest.mark.parametrize("preset", ["paper", "robust", "release"])
def test_a_spec_counts_names_and_places_its_channels(preset):
    spec = ChannelSpec.parse(ALL, preset=preset)
    n_lbp = 116 if preset == "release" else 174
    assert {name: part.stop - part.start for name, part in spec.groups.items()} == {
        "LUV": 3,
        "M": 1,
        "O": 6,
        "spLBP": n_lbp,
        "spCov": 7 + 3 * 42,
    }
    assert spec.n_channels == len(spec.names) == len(set(spec.names)) == len(spec.supports) == 143 + n_lbp
    assert [part.start for part in spec.groups.values()] == sorted(part.start for part in spec.groups.values())
    assert spec.shrink == 4 and str(spec) == f"LUV+M+O+spLBP+spCov ({preset})"


def test_the_paper_counts_136_channels_of_colour_and_covariance():
    assert ChannelSpec.parse("spCov+LUV", preset="paper").n_channels == 136


def test_the_order_of_the_text_does_not_matter():
    assert ChannelSpec.parse("spCov + LUV", "paper") == ChannelSpec.parse("LUV+spCov", "paper")
    assert ChannelSpec.parse(ALL) == ChannelSpec.parse(ALL, preset="robust")


@pytest.mark.parametrize(
    ("text", "preset", "message"),
    [
        ("LUV+HOG", "robust", "got 'HOG' in 'LUV\\+HOG'"),
        ("", "robust", "got ''"),
        ("LUV+LUV", "paper", "LUV more than once"),
        ("spCov+Cov", "paper", "spCov and Cov more than once"),
        ("LUV+spCov", "acf", "of the preset 'acf' are LUV, M, O"),
        ("LUV", "best", "preset must be one of acf, paper, robust, release, or a Preset; got 'best'"),
    ],
)
def test_a_wrong_name_is_refused(text, preset, message):
    with pytest.raises(ValueError, match=message):
        ChannelSpec.parse(text, preset=preset)


# ------------------------------------------------------------------------------------------ the channels


@pytest.mark.parametrize("preset", ["paper", "robust", "release"])
def test_parts_do_not_depend_on_the_whole(preset):
    image = noise(56, 60)
    spec = ChannelSpec.parse(ALL, preset=preset)
    channels = spec.compute(image)
    for family, part in spec.groups.items():
        np.testing.assert_array_equal(ChannelSpec.parse(family, preset=preset).compute(image), channels[..., part])
    np.testing.assert_array_equal(spec.compute(image, n_jobs=2), channels)


@pytest.mark.parametrize("text", [ALL, "M+O+LUV+Cov+LBP"])
@pytest.mark.parametrize("preset", ["paper", "robust", "release"])
def test_a_shift_by_a_cell_shifts_the_channels_by_a_cell(text, preset):
    spec, image = ChannelSpec.parse(text, preset=preset), noise(120, 124)
    whole, shifted = spec.compute(image), spec.compute(image[4:, 8:])
    np.testing.assert_allclose(shifted[8:-8, 8:-8], whole[9:-8, 10:-8], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("text", [ALL, "M+O+LUV+Cov+LBP"])
@pytest.mark.parametrize("preset", ["paper", "robust", "release"])
def test_pixels_outside_its_support_do_not_change_a_cell(text, preset):
    spec, (row, col) = ChannelSpec.parse(text, preset=preset), (14, 15)
    image, other = noise(128, 128), noise(128, 128, seed=1)
    channels = spec.compute(image)
    for first, last in np.unique(spec.supports, axis=0):
        mixed = other.copy()
        inside = slice(4 * row + first, 4 * row + last), slice(4 * col + first, 4 * col + last)
        mixed[inside] = image[inside]
        chosen = (spec.supports == (first, last)).all(axis=1)
        np.testing.assert_allclose(
            spec.compute(mixed)[row, col, chosen], channels[row, col, chosen], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("preset", ["paper", "robust", "release"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (4, 4), (5, 131), (33, 7)])
def test_images_of_any_size_give_whole_cells_and_no_nan(shape, preset):
    spec = ChannelSpec.parse(ALL, preset=preset)
    for image in (noise(*shape), np.zeros((*shape, 3), dtype=np.uint8), np.full(shape, 0.5)):
        channels = spec.compute(image)
        assert channels.shape == (shape[0] // 4, shape[1] // 4, spec.n_channels) and channels.dtype == np.float32
        assert np.isfinite(channels).all()


def test_grey_is_equal_colours_and_bytes_are_255ths():
    spec, grey = ChannelSpec.parse(ALL), noise(40, 44)[..., 0]
    colours = spec.compute(np.repeat(grey[..., None], 3, axis=2))
    np.testing.assert_array_equal(spec.compute(grey), colours)
    as_floats = spec.compute(grey / 255)
    assert np.isclose(as_floats, colours, rtol=1e-3, atol=1e-4).mean() > 0.99


@pytest.mark.parametrize("text, preset", [("M+O+LUV", "acf"), (ALL, "paper"), (ALL, "robust"), (ALL, "release")])
def test_pixels_beyond_whole_cells_are_left_out(text, preset):
    spec, image = ChannelSpec.parse(text, preset=preset), noise(63, 46)
    np.testing.assert_array_equal(spec.compute(image), spec.compute(image[:60, :44]))


def test_a_row_of_a_channel_lies_side_by_side_in_memory():
    assert np.moveaxis(ChannelSpec.parse(ALL).compute(noise(20, 24)), 2, 1).flags.c_contiguous


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "text, preset, per_pixel", [("M+O+LUV", "acf", 11), (ALL, "paper", 11), (ALL, "robust", 11), (ALL, "release", 16)]
)
def test_memory_beyond_the_channels(text, preset, per_pixel, n_jobs):
    """At most so many bytes per pixel, and 2 MB per thread."""
    spec, image = ChannelSpec.parse(text, preset=preset), noise(902, 1203)  # no whole cells
    tracemalloc.start()
    channels = spec.compute(image, n_jobs=n_jobs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - channels.nbytes <= per_pixel * image[..., 0].size + 2e6 * n_jobs


# ------------------------------------------------------------------------------------------ the authors' program


@pytest.mark.parametrize("name", FORMULAS)
def test_golden_images_are_made_as_the_source_says(name):
    image, golden = made_by_formula(name), GOLDEN[name]
    assert image.sum() == golden["sum_of_bytes"] and image[10, 20].tolist() == golden["pixel_10_20"]


def release_channels(name):
    """Channels of the release with its padding: replicated for L, U and V, 0 for the others."""
    spec = ChannelSpec.parse(ALL, preset="release")
    channels = spec.compute(made_by_formula(name).astype(np.float32) / 255)
    around = [(PADDING, PADDING), (PADDING, PADDING), (0, 0)]
    padded = [np.pad(channels[..., :3], around, mode="edge"), np.pad(channels[..., 3:], around)]
    return spec, np.concatenate(padded, axis=2)


@pytest.mark.parametrize("name", FORMULAS)
def test_release_channels_against_the_authors_program(name):
    spec, channels = release_channels(name)
    golden = np.array(GOLDEN[name]["channel_mean"][: spec.n_channels])
    difference = np.abs(channels.mean(axis=(0, 1)) - golden)
    groups = spec.groups
    assert list(channels.shape[:2]) == GOLDEN[name]["shape"][:2]
    for family, tolerance in {"LUV": 1e-4, "M": 5e-5, "O": 5e-4, "spLBP": 1e-6}.items():
        assert difference[groups[family]].max() <= tolerance, family
    statistics, covariance = np.split(difference[groups["spCov"]], [7])
    assert statistics.max() <= 1e-3 and covariance.max() <= 1e-2 and covariance.mean() <= 2e-3


@pytest.mark.parametrize("name", FORMULAS)
def test_release_cells_against_the_authors_program(name):
    spec, channels = release_channels(name)
    for cell in ((7, 5), (12, 9)):
        difference = np.abs(channels[cell] - GOLDEN[name]["cell_row{}_col{}".format(*cell)][: spec.n_channels])
        assert difference[: spec.groups["spCov"].start].max() <= 2e-3
        assert difference[spec.groups["spCov"]].max() <= 0.15


# ------------------------------------------------------------------------------------------ presets

ROBUST = PRESETS["robust"]
VARIATIONS = {
    "corner": replace(ROBUST, name="corner", covariance=replace(ROBUST.covariance, centred=False)),
    "small": replace(ROBUST, name="small", covariance=replace(ROBUST.covariance, patch_sizes=(4, 8, 16))),
    "two sizes": replace(ROBUST, name="two sizes", covariance=replace(ROBUST.covariance, patch_sizes=(4, 32))),
    "colours": replace(ROBUST, name="colours", colours=True),
    "sharp": replace(ROBUST, name="sharp", smooth_intensity=0),
    "after": replace(ROBUST, name="after", smooth_pooled=1),
    "no ridges": replace(ROBUST, name="no ridges", covariance=PRESETS["paper"].covariance),
}


@pytest.mark.parametrize("name", VARIATIONS)
def test_a_variation_changes_the_channels_of_its_family_only(name):
    image, preset = noise(96, 96), VARIATIONS[name]
    spec, robust = ChannelSpec.parse("M+O+LUV+spCov", preset=preset), ChannelSpec.parse("M+O+LUV+spCov")
    channels, expected = spec.compute(image), robust.compute(image)
    assert str(spec) == f"LUV+M+O+spCov ({name})" and spec != robust
    assert channels.shape[2] == spec.n_channels == len(spec.names) == len(spec.supports)
    np.testing.assert_array_equal(channels[..., :10], expected[..., :10])
    assert channels.shape != expected.shape or not np.array_equal(channels, expected)


@pytest.mark.parametrize("preset", VARIATIONS.values(), ids=list(VARIATIONS))
def test_pixels_outside_the_support_of_a_variation_do_not_change_a_cell(preset):
    test_pixels_outside_its_support_do_not_change_a_cell("M+O+LUV+spCov", preset)


def test_a_variation_that_is_another_preset_computes_the_same():
    release = PRESETS["release"]
    rebuilt = replace(
        PRESETS["paper"],
        name="release again",
        smooth_luv=0,
        smooth_channels=0.5,
        smooth_pooled=0.5,
        lightness_table=True,
        colours=True,
        covariance=release.covariance,
        lbp="histograms",
    )
    image = noise(48, 52)
    expected = ChannelSpec.parse(ALL, preset="release").compute(image)
    np.testing.assert_array_equal(ChannelSpec.parse(ALL, preset=rebuilt).compute(image), expected)
    assert replace(rebuilt, name="release") == release


def test_presets_are_values():
    assert ChannelSpec.parse(ALL, preset=PRESETS["robust"]) == ChannelSpec.parse(ALL)
    assert len(set(PRESETS.values()) | set(VARIATIONS.values())) == len(PRESETS) + len(VARIATIONS)
    for preset in [*PRESETS.values(), *VARIATIONS.values()]:
        assert pickle.loads(pickle.dumps(preset)) == preset
        assert "patch_sizes=(" in repr(ChannelSpec.parse("LUV", preset=preset))  # a key that holds everything
        plain = json.loads(json.dumps(preset.to_plain()))
        assert Preset.from_plain(plain) == preset and isinstance(plain, str) == (preset.name in PRESETS)
    pretender = replace(ROBUST, colours=True)
    assert isinstance(pretender.to_plain(), dict) and Preset.from_plain(pretender.to_plain()) == pretender


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name of a preset must be a text"),
        ({"smooth_luv": 2}, "smooth_luv must be a finite number, 0 or larger and at most 1; got 2"),
        ({"smooth_pooled": -1}, "smooth_pooled must be a finite number"),
        ({"colours": "yes"}, "colours must be True or False; got 'yes'"),
        ({"covariance": {"centred": True}}, "covariance must be a CovarianceRule"),
        ({"lbp": "cells"}, "lbp must be one of 'patches', 'histograms'"),
        ({"families": ("LUV", "HOG")}, "families must be some of LUV, M, O"),
        ({"families": "LUV"}, "families must be a tuple"),
    ],
)
def test_presets_check_their_fields(changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        replace(ROBUST, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"patch_sizes": (8, 4)}, r"patch_sizes must be ascending sizes out of 4, 8, 16, 32; got \(8, 4\)"),
        ({"patch_sizes": ()}, "patch_sizes must be ascending"),
        ({"patch_sizes": (4, 12)}, "patch_sizes must be ascending"),
        ({"patch_sizes": 8}, "patch_sizes must be a tuple"),
        ({"centred": 1}, "centred must be True or False"),
        ({"ridge": -1}, "ridge must be a finite number, 0 or larger"),
        ({"ridge": 0}, "both ridges must be larger than 0"),
        ({"min_variance": float("nan")}, "min_variance must be a number, not nan"),
    ],
)
def test_covariance_rules_check_their_fields(changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        replace(ROBUST.covariance, **changes)
