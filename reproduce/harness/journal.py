"""A journal of finished cases, one JSON line each: a line is whole or it does not count.

While a script runs, finished cases are lines of `<name>.jsonl`. Then `<name>.csv` is written, in the order
of the cases, with its provenance as `<name>.json`, and the journal goes: neither the number of processes nor an
interruption shows in the CSV. What a CSV holds already is not measured again.
"""

import csv
import io
import json
import os
from concurrent.futures import as_completed

from threadpoolctl import threadpool_limits
from tqdm import tqdm


def collect(path, measure, cases, origin, executor=None):
    """Measure the cases that neither the journal nor the CSV holds, then write the CSV of all.

    Parameters
    ----------
    path : Path
        Of the CSV.
    measure : callable
        Case -> list of dict, its rows.
    cases : list of dict
        JSON values of the same keys, which are the first columns.
    origin : dict
        Provenance. Rows made with other versions, another protocol or other data are measured again.
    executor : concurrent.futures.Executor, optional
        If None, cases are measured here, one after the other.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    journal, keys, origin = path.with_suffix(".jsonl"), list(map(_key, cases)), json.loads(json.dumps(origin))
    done = _finished(path, cases, origin)
    missing = [case for key, case in zip(keys, cases, strict=True) if key not in done]
    if missing:
        write(journal, "".join(_line(origin, key, done[key]) for key in keys if key in done))
        _measure(journal, measure, missing, origin, executor)
        done = _finished(path, cases, origin)
    else:
        print(f"{path.name}: all results were there already; delete it to measure them again.")
    path.with_suffix(".json").unlink(missing_ok=True)  # it never stands beside a CSV of another origin
    write(path, _as_csv([json.loads(key) | row for key in keys for row in done[key]]))
    write(path.with_suffix(".json"), json.dumps(origin, indent=1) + "\n")
    journal.unlink(missing_ok=True)


def _measure(journal, measure, cases, origin, executor):
    try:
        with journal.open("a", encoding="utf-8") as stream:
            for case, rows in tqdm(_results(measure, cases, executor), journal.stem, len(cases), disable=None):
                stream.write(_line(origin, _key(case), [{name: _text(row[name]) for name in row} for row in rows]))
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


def _finished(path, cases, origin):
    """Return the rows of all finished cases of this origin, by case; say what others were made with."""
    entries, about = list(_lines(path.with_suffix(".jsonl"))), path.with_suffix(".json")
    if path.exists() and about.exists():
        made_by, found = json.loads(about.read_text(encoding="utf-8")), {}
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                found.setdefault(_key({name: row.pop(name, None) for name in cases[0]}), []).append(row)
        entries += [{"origin": made_by, "case": key, "rows": rows} for key, rows in found.items()]
    done, changes = {}, set()
    for entry in entries:
        others = set(_changes(entry["origin"], origin))
        changes |= others
        if not others:
            done[entry["case"]] = entry["rows"]
    for change in sorted(changes):
        print(f"{path.name}: made with {change}; it is measured again.")
    return done


def _lines(journal):
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:  # cut short
            continue


def _changes(made_by, origin):
    """Yield what an origin had that is another now."""
    for part in ("versions", "protocol"):
        for name, old in made_by[part].items():
            if origin[part].get(name) != old:
                yield f"{name} {old}"
    for title, old in made_by["data"].items():
        if origin["data"].get(title, old)["content_hash"] != old["content_hash"]:
            yield f"other data of {title}"


def _line(origin, key, rows):
    return json.dumps({"origin": origin, "case": key, "rows": rows}) + "\n"


def _key(case):
    return json.dumps({name: _text(value) for name, value in case.items()})


def _text(value):
    return "" if value is None else str(value)


def _as_csv(rows):
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write(path, text):
    """Write a file completely or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)
