from paucens.persistence.archive import content_of, kind_of, load, opened, save
from paucens.persistence.arrays import map_array, read_array, write_array
from paucens.persistence.checks import array_of, check_index
from paucens.persistence.disk import remove_parts, replacing
from paucens.persistence.values import LATER, plain, settings_of, typed, untyped

__all__ = [
    "LATER",
    "array_of",
    "check_index",
    "content_of",
    "kind_of",
    "load",
    "map_array",
    "opened",
    "plain",
    "read_array",
    "remove_parts",
    "replacing",
    "save",
    "settings_of",
    "typed",
    "untyped",
    "write_array",
]
