"""A journal of finished cases, one JSON line each: a line is whole or it does not count.

While a script runs, finished cases are lines of `<name>.jsonl`. Then `<name>.csv` is written, in the order of cases,
with its provenance as `<name>.json`, and the journal goes: neither the number of processes nor an interruption shows
in the CSV. What a CSV holds already is not measured again, unless it was made with other versions, another protocol or
other data.
"""

import csv
import json
import os
import sys
from concurrent.futures import as_completed

import pandas as pd
from threadpoolctl import threadpool_limits
from tqdm import tqdm


def collect(path, measure, cases, origin, executor=None, keep=False):
    """Measure the cases that neither the journal nor the CSV holds, then write the CSV of all.

    `measure` maps a case to its rows, a list of dict. `cases` are dicts of the same keys, the first columns. `origin`
    is the provenance. With `keep`, rows made with other versions are kept, and the provenance names all versions.
    Without an executor, cases are measured here, one after the other.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    journal, origin = path.with_suffix(".jsonl"), json.loads(json.dumps(origin))
    keys = [_texts(case) for case in cases]
    done = _finished(path, cases, origin, keep)
    missing = [case for key, case in zip(keys, cases, strict=True) if key not in done]
    if missing:
        write(journal, "".join(_line(**done[key]) for key in keys if key in done))
        _measure(journal, measure, missing, origin, executor)
        done = {entry["case"]: entry for entry in _lines(journal)}
    else:
        print(f"{path.name}: all results were there already; delete it to measure them again.")
    path.with_suffix(".json").unlink(missing_ok=True)  # it never stands beside a CSV of another origin
    rows = pd.DataFrame([json.loads(key) | row for key in keys for row in done[key]["rows"]])
    write(path, rows.to_csv(index=False, lineterminator="\n"))
    origin |= {"versions": _versions([done[key]["origin"] for key in keys], origin)}
    write(path.with_suffix(".json"), json.dumps(origin, indent=1) + "\n")
    journal.unlink(missing_ok=True)


def _measure(journal, measure, cases, origin, executor):
    try:
        with journal.open("a", encoding="utf-8") as stream:
            results, silent = _results(measure, cases, executor), None if sys.stderr else True  # None: if no terminal
            for case, rows in tqdm(results, journal.stem, len(cases), disable=silent):
                rows = [json.loads(_texts(row)) for row in rows]
                stream.write(_line(origin, _texts(case), rows))
                stream.flush()
    except KeyboardInterrupt:
        print(f"\n{len(list(_lines(journal)))} results are saved in {journal.name}.")
        raise


def _results(measure, cases, executor):
    """Yield (case, rows) as they come."""
    if executor is None:
        yield from ((case, _alone(measure, case)) for case in cases)
        return
    futures = {executor.submit(_alone, measure, case): case for case in cases}
    try:
        yield from ((futures[future], future.result()) for future in as_completed(futures))
    finally:
        for future in futures:
            future.cancel()


def _alone(measure, case):
    with threadpool_limits(1):
        return measure(case)


def _finished(path, cases, origin, keep):
    """Return the entries of all finished cases that may be used, by case; say what others were made with."""
    entries, about = list(_lines(path.with_suffix(".jsonl"))), path.with_suffix(".json")
    if path.exists() and about.exists():
        made_by, found = json.loads(about.read_text(encoding="utf-8")), {}
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                found.setdefault(_texts({name: row.pop(name, None) for name in cases[0]}), []).append(row)
        entries += [{"origin": made_by, "case": key, "rows": rows} for key, rows in found.items()]
    parts = ("protocol",) if keep else ("versions", "protocol")
    changes = [set(_changes(entry["origin"], origin, parts)) for entry in entries]
    for change in sorted(set().union(*changes)):
        print(f"{path.name}: made with {change}; it is measured again.")
    return {entry["case"]: entry for entry, others in zip(entries, changes, strict=True) if not others}


def _changes(made_by, origin, parts):
    """Yield what an origin had that is another now, in these parts and in the data."""
    for part in parts:
        yield from (f"{name} {old}" for name, old in made_by[part].items() if origin[part].get(name) != old)
    for title, old in made_by["data"].items():
        if origin["data"].get(title, old)["content_hash"] != old["content_hash"]:
            yield f"other data of {title}"


def _versions(origins, latest):
    """Name all versions that were used, such as {"numpy": "2.3, 2.4"}."""
    used = {name: set() for name in latest["versions"]}
    for origin in origins:
        for name, own in origin["versions"].items():
            used.setdefault(name, set()).update(own.split(", "))
    return {name: ", ".join(sorted(own)) for name, own in used.items()}


def _lines(journal):
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:  # cut short
            continue


def _line(origin, case, rows):
    return json.dumps({"origin": origin, "case": case, "rows": rows}) + "\n"


def _texts(values):
    """Values as they stand in a CSV, as JSON."""
    return json.dumps({name: "" if value is None else str(value) for name, value in values.items()})


def write(path, text):
    """Write a file completely or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)
