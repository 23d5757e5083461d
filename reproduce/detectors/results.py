"""Tables of detectors: each judged on each test set, differences in pairs, Markdown and picture."""

from dataclasses import replace
from time import perf_counter

from detectors.data import test_set, training_data
from detectors.judging import SCORE, detections_of, judged, load_detections, log_evaluation, per_cent, save_detections
from detectors.peers import ToolboxConfig
from detectors.training import n_threads, slug, trained
from paucens.datasets.inria import about_test
from paucens.evaluation import miss_rate_difference
from paucens.plotting import GREY, draw_forest, house_style, method_style, new_figure
from report import interval_text, markdown, paper_says


def cases(run, named, configs):
    """List the detectors, test set by test set, so that processes train different ones; `named` is of `load`."""
    return [
        start | config.names | {"repeat": repeat}
        for start in named
        for repeat in range(run.protocol.seeds)
        for config in configs
        if repeat < config.n_seeds
    ]


def pair_cases(run, named, pairs):
    """List the pairs of detectors to compare, over the seeds that both have."""
    return [
        start
        | one.names
        | {"baseline": other.method, "baseline_preset": str(other.preset)}
        | {"n_seeds": min(one.n_seeds, other.n_seeds, run.protocol.seeds)}
        for start in named
        for one, other in pairs
    ]


def judge(run, case, configs):
    """Train the detector of a case, or load it, run it on the test set and judge its detections.

    `configs` are of DetectorConfig and ToolboxConfig.
    """
    config = next(config for config in configs if config.names.items() <= case.items())
    data, tests, seed = training_data(run), test_set(run, case["test_set"]), run.seed + case["repeat"]
    is_peer = isinstance(config, ToolboxConfig)
    detector, train_seconds = (config.detector(run), None) if is_peer else trained(run, config, data, seed)
    if not config.cascade:
        detector = replace(detector, trees=detector.trees.without_rejection())
    start = perf_counter()
    found = detections_of(detector, tests.images, n_threads(run), tests.searched_height)
    detect_seconds, path = perf_counter() - start, _stored(run, case["method"], case["preset"], seed, tests)
    save_detections(path, found)
    matches = tests.evaluate(load_detections(path))
    score = judged(matches)
    log_evaluation(run, f"{config.method} ({config.preset})", seed, tests.title, score["miss_rate"])
    counts = {"n_images": len(found), "n_people": int(matches.n_truths.sum())}
    times = {"train_seconds": train_seconds, "detect_seconds": f"{detect_seconds:.1f}"}
    return [counts | score | times | {"n_negatives": detector.notes.get("negatives"), "source": data.source}]


def compare(run, case):
    """Compare the miss rates of two detectors, paired over images and seeds, by what they have detected."""
    tests = test_set(run, case["test_set"])
    both = (case["method"], case["preset"]), (case["baseline"], case["baseline_preset"])
    matches = [
        [tests.evaluate(load_detections(_stored(run, *names, run.seed + k, tests))) for k in range(case["n_seeds"])]
        for names in both
    ]
    return [{name: f"{value:.6f}" for name, value in miss_rate_difference(*matches)._asdict().items()}]


def _stored(run, method, preset, seed, tests):
    """Name the file of what a detector has detected on a test set, beside the CSV."""
    return run.folder / run.name / f"{slug(method, preset, seed, tests.title)}.npz"


def table(name, rows, pairs):
    """List miss rates and differences, a block per test set; the paper's numbers stand beside INRIA's only."""
    paper = paper_says(name)
    blocks = [
        f"# {name.replace('_', ' ').capitalize()}",
        f"{paper['caption']} (Sec. {paper['section']}). In per cent, lower is better; 95 % intervals are over images.",
    ]
    for title, own in rows.groupby("test_set", sort=False):
        first, printed = own.iloc[0], paper["miss_rate"] if title.startswith("INRIA") else {}
        about = f"{first.n_images} images, {first.n_people} people."
        if title.startswith("INRIA"):
            about += f" {about_test(first.n_images, first.source)}."
        toolbox = paper.get("toolbox", {}) if title.startswith("INRIA") else {}
        said = [f"{method} {value}" for method, value in toolbox.items() if method in own.method.to_numpy()]
        if said:
            about += f" The toolbox prints, for all 288 images without repairs: {', '.join(said)}."
        blocks += [f"## {title}", about, _scores(own, printed), _differences(pairs[pairs.test_set == title])]
    return "\n\n".join(blocks) + "\n"


def _scores(rows, printed):
    lines = []
    for (method, preset), own in rows.groupby(["method", "preset"], sort=False):
        mean, said, minutes = 100 * own.miss_rate.mean(), printed.get(method, {}).get("INRIA"), own.train_seconds / 60
        beside = [said, f"{mean - said:+.1f}"] if said else [None, None]
        each, time = ", ".join(map(per_cent, own[SCORE].to_numpy())), f"{minutes.mean():.0f}"
        lines.append([method, preset, *beside, f"{mean:.1f}", each, None if minutes.isna().all() else time])
    columns = ["detector", "preset", "paper", "difference", "ours", "each seed", "minutes of training"]
    return markdown(lines, columns)


def _differences(pairs):
    lines = []
    for row in pairs.itertuples():
        names = [f"{row.method} − {row.baseline}", f"{row.preset} − {row.baseline_preset}", row.n_seeds]
        ends = interval_text(100 * row.low, 100 * row.high, "+.1f")
        lines.append([*names, f"{100 * row.difference:+.1f}", ends])
    return markdown(lines, ["difference", "presets", "seeds", "points", "95 %"])


@house_style()
def picture(name, rows):
    """Draw the miss rates, a panel per test set: a dot with its interval per seed, the paper's number as a bar."""
    printed, tests = paper_says(name)["miss_rate"], list(rows.groupby("test_set", sort=False))
    detectors = rows[["method", "preset"]].drop_duplicates()
    figure = new_figure(2.4 + 1.9 * len(tests), 1.2 + 0.45 * len(detectors))
    for (title, own), axes in zip(tests, figure.subplots(1, len(tests), sharey=True, squeeze=False)[0], strict=True):
        groups = own.groupby(["method", "preset"], sort=False)
        intervals = {f"{method}\n({preset})": 100 * each[SCORE].to_numpy() for (method, preset), each in groups}
        draw_forest(axes, intervals, lambda _: method_style("pAUCEnsT"))
        for place, method in enumerate(detectors.method if title.startswith("INRIA") else ()):
            if method in printed:
                said = printed[method]["INRIA"]
                axes.plot(said, place, "|", color=GREY, markersize=18, markeredgewidth=2)
                axes.annotate("paper", (said, place), (0, 12), textcoords="offset points", ha="center", color=GREY)
        axes.set(title=title, xlabel="log-average miss rate, %", xmargin=0.12)
        axes.label_outer()
    return figure
