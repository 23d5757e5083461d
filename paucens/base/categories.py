"""Columns of categories: which they are, and their codes.

The categories of a column are sorted and have the codes 0, 1, .... Missing and unknown ones are NaN, as missing values.
"""

import numbers

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from paucens.learners.nodes import MOST_CODES, left_categories, splits_categories
from paucens.persistence import typed, untyped
from paucens.validation import FLOATS, check_features, check_features_and_target, is_flag, refuse_strings

MOST_CATEGORIES = MOST_CODES - 1  # the last bin is that of missing ones
TYPES = ("CategoricalDtype", "Categorical", "Enum")  # of columns, in pandas and polars
ALLOWED = "None, 'from_dtype', or a list of indices of columns, of their names, or of one flag per column"


# -- samples ---------------------------------------------------------------------------------------


def check_table_and_target(ensemble, X, y, learner):
    """Check the samples of a fit; set `categories_`, and what `check_features_and_target` sets.

    Parameters
    ----------
    ensemble : WeightedEnsemble
    X : array-like of shape (n_samples, n_features), or frame
    y : array-like of shape (n_samples,)
    learner : WeakLearner

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        With codes in place of categories.
    positive : ndarray of shape (n_samples,), bool

    Raises
    ------
    ValueError
        As `check_features_and_target`; and if `categorical_features` does not fit X or the learner is not a tree, if
        categories are neither text nor finite numbers, or if there are more of them than bins.
    """
    table, ensemble.categories_ = _as_table(X), {}
    columns = [] if table is None else categorical_columns(X, table.shape[1], ensemble.categorical_features)
    if not columns:
        return check_features_and_target(ensemble, X, y, learner.allow_nan)
    if not hasattr(learner, "make_binned_trainer"):
        raise ValueError(
            f"categorical_features are for ensembles of trees, learner=Tree() or Stump(); got {ensemble.learner!r}. "
            "For others, encode categories first, for example with sklearn.preprocessing.OneHotEncoder."
        )
    for column in columns:
        known = _categories_of(_column(table, column), _name_of(X, column))
        _check_number(len(known), ensemble.max_bins, _name_of(X, column))
        ensemble.categories_[column] = known
    codes, positive = check_features_and_target(ensemble, as_codes(table, ensemble.categories_), y, allow_nan=True)
    validate_data(ensemble, X, skip_check_array=True)  # for the names of features
    return codes, positive


def without_unused(categories, codes):
    """Return the categories without those that are in no row, and renumber the codes in place."""
    used = {}
    for column, known in categories.items():
        missing = np.isnan(codes[:, column])
        present, renumbered = np.unique(codes[~missing, column].astype(int), return_inverse=True)
        codes[~missing, column] = renumbered
        used[column] = known[present]
    return used


def check_new_table(ensemble, X, allow_nan):
    """Check new samples and return them as an array, with codes in place of categories."""
    table = _as_table(X) if ensemble.categories_ else None
    if table is None:
        return check_features(ensemble, X, reset=False, allow_nan=allow_nan)
    validate_data(ensemble, X, reset=False, skip_check_array=True)
    return _as_floats(as_codes(table, ensemble.categories_), finite=True)


def as_codes(table, categories):
    """Return a frame or array as an array of floats, with codes in place of categories."""
    others = [column for column in range(table.shape[1]) if column not in categories]
    numeric = _as_floats(table.iloc[:, others] if hasattr(table, "iloc") else table[:, others])
    codes = np.empty(table.shape, dtype=numeric.dtype)
    codes[:, others] = numeric
    for column, known in categories.items():
        codes[:, column] = _codes_of(_column(table, column), known)
    return codes


@np.errstate(over="ignore", invalid="ignore")  # of the sum that tells whether all are finite
def _as_floats(X, finite=False):
    """Return some columns as an array of floats; raise ValueError if they hold no numbers, or infinity if `finite`."""
    refuse_strings(X)
    finite = "allow-nan" if finite else False
    return check_array(X, dtype=FLOATS, ensure_all_finite=finite, ensure_min_features=0, input_name="X")


def _as_table(X):
    """Return X as a frame or an array of rows and columns; None for anything else, which is refused elsewhere."""
    if hasattr(X, "iloc") or hasattr(X, "to_series"):  # pandas, polars
        return X if len(X.shape) == 2 else None
    table = np.array(X, dtype=object) if isinstance(X, list | tuple) else np.asarray(X)
    return table if table.ndim == 2 else None


def _column(table, column):
    return table.iloc[:, column] if hasattr(table, "iloc") else table[:, column]


# -- which columns ---------------------------------------------------------------------------------


def check_categorical_features(wanted):
    """Return the parameter `categorical_features`: None, "from_dtype", or a list; raise ValueError otherwise."""
    if wanted is None or (isinstance(wanted, str) and wanted == "from_dtype"):
        return wanted
    items = np.asarray(wanted, dtype=object)
    kinds = {_kind_of(item) for item in items.flat}
    if items.ndim != 1 or len(kinds) > 1 or "other" in kinds:
        raise ValueError(f"categorical_features must be {ALLOWED}; got {wanted!r}.")
    return items.tolist()


def _kind_of(item):
    """Name the kind of an item of `categorical_features`."""
    if isinstance(item, str):
        return "name"
    if is_flag(item):
        return "flag"
    return "index" if isinstance(item, numbers.Integral) else "other"


def categorical_columns(X, n_features, wanted):
    """List the columns that hold categories, ascending; raise ValueError if `wanted` names one that is not there."""
    wanted = check_categorical_features(wanted)
    if not wanted:
        return []
    if wanted == "from_dtype":
        return [column for column, dtype in enumerate(getattr(X, "dtypes", ())) if _type_name(dtype) in TYPES]
    kind = _kind_of(wanted[0])
    if kind == "name":
        return sorted({_place_of(name, X) for name in wanted})
    if kind == "index":
        if min(wanted) < 0 or max(wanted) >= n_features:
            raise ValueError(f"categorical_features must be indices from 0 to {n_features - 1}; got {wanted}.")
        return sorted({int(column) for column in wanted})
    if len(wanted) != n_features:
        raise ValueError(f"categorical_features holds {len(wanted)} flags, but X has {n_features} features.")
    return np.flatnonzero(wanted).tolist()


def _place_of(name, X):
    """Return the place of a column that is given by its name."""
    if not hasattr(X, "columns"):
        raise ValueError(f"categorical_features names {name!r}, but X has no names. Give indices, or pass a frame.")
    names = list(X.columns)
    if name not in names:
        raise ValueError(f"categorical_features names {name!r}, which X does not have. Its features are {names}.")
    return names.index(name)


def _type_name(dtype):
    return dtype.__name__ if isinstance(dtype, type) else type(dtype).__name__


def _name_of(X, column):
    return repr(X.columns[column]) if hasattr(X, "columns") else f"at index {column}"


# -- the categories of a column --------------------------------------------------------------------


def _distinct(column):
    """Return the distinct values of a column, a list, and the place of each row's value in it, -1 for missing ones."""
    if hasattr(column, "iloc") and hasattr(column, "cat"):  # pandas has them already
        return column.cat.categories.tolist(), np.asarray(column.cat.codes)
    values = np.asarray(column)
    if values.dtype != object:
        values, places = np.unique(values, return_inverse=True)
        return list(values) if values.dtype.kind in "mM" else values.tolist(), places
    place_of = {}
    try:
        places = [place_of.setdefault(value, len(place_of)) for value in values.tolist()]
    except TypeError as error:  # such as lists
        raise ValueError(f"Categories must be text or finite numbers: {error}.") from error
    return list(place_of), np.array(places, dtype=np.intp)


def _is_missing(value):
    is_nan = isinstance(value, numbers.Real) and value != value
    return value is None or is_nan or type(value).__name__ == "NAType"


def _categories_of(column, name):
    """Return the categories of a column, sorted: an array of numbers, or of text as Python's strings."""
    values, places = _distinct(column)
    found = [values[place] for place in np.unique(places[places >= 0])]
    known = [value for value in found if not _is_missing(value)]
    if known and all(isinstance(value, str) for value in known):
        return np.array(sorted(map(str, known)), dtype=object)
    if all(isinstance(value, numbers.Real | np.bool_) for value in known):
        array = np.unique(np.array(known, dtype=None if known else np.float64))
        if array.dtype.kind in "biuf" and np.isfinite(array).all():
            return array
    types = sorted({type(value).__name__ for value in known})
    raise ValueError(f"Feature {name}: categories must be all text, or all finite numbers; got {', '.join(types)}.")


def _check_number(number, max_bins, name):
    most = min(max_bins, MOST_CATEGORIES)
    if number > most:
        raise ValueError(
            f"Feature {name} has {number} categories, but there is room for {most}: max_bins is {max_bins}, and one of "
            f"{MOST_CODES} bins is that of missing values. Merge rare categories, or encode them as numbers, for "
            "example with sklearn.preprocessing.TargetEncoder."
        )


def _codes_of(column, known):
    """Return the codes of a column, ndarray of shape (n_samples,), float64."""
    values, places = _distinct(column)
    code_of = {category: code for code, category in enumerate(known.tolist())}
    codes = np.array([*(code_of.get(value, np.nan) for value in values), np.nan])  # the last for places of -1
    return codes[places]


def sides_of(categories, nodes, node):
    """Return the categories that go left, and those that go right, at a node that splits some; two lists."""
    known = categories[nodes.column[node]]
    left = left_categories(nodes, node, len(known))
    return known[left].tolist(), np.delete(known, left).tolist()


# -- files -----------------------------------------------------------------------------------------


def categories_to_file(categories):
    """Return the categories as JSON values; nothing if there are none."""
    pairs = [[column, typed(known, "categories_")] for column, known in categories.items()]
    return {"categories": pairs} if pairs else {}


def categories_from_file(header, n_features):
    """Return the categories in the header of a file; raise ValueError if they are damaged."""
    pairs = header.get("categories", [])
    columns = [column for column, _ in pairs]
    if columns != sorted(set(columns)) or not all(_kind_of(c) == "index" and 0 <= c < n_features for c in columns):
        raise ValueError(f"categories must be of features from 0 to {n_features - 1}, ascending. The file is damaged.")
    categories = {column: untyped(value) for column, value in pairs}
    for column, known in categories.items():
        if not isinstance(known, np.ndarray) or known.ndim != 1 or len(known) > MOST_CATEGORIES:
            raise ValueError(f"categories of feature {column} must be an array of at most {MOST_CATEGORIES}.")
        same = _categories_of(known, column)
        if known.dtype != same.dtype or known.tolist() != same.tolist():
            raise ValueError(f"categories of feature {column} must ascend and be there. The file is damaged.")
    return categories


def check_splits(trees, categories):
    """Raise ValueError unless trees from a file split the features of categories, and no others, by sets of them."""
    for nodes in trees:
        by_set = splits_categories(nodes)
        if (by_set != (np.isin(nodes.column, list(categories)) & (nodes.child > 0))).any():
            raise ValueError(
                "nodes/left_sets: a set of categories is missing, or is of another feature. It is damaged."
            )
        for node in np.flatnonzero(by_set):
            known = len(categories[nodes.column[node]])
            left = left_categories(nodes, node, MOST_CODES)
            beyond = MOST_CODES - known if nodes.missing_left[node] else 0
            if np.count_nonzero(left >= known) != beyond or len(left) == beyond:
                raise ValueError("nodes/left_sets: no category goes left, or one that is not there. It is damaged.")
