"""Files of named arrays and a JSON header, one `.npz` each; nothing here knows a class or unpickles.

A file is a zip archive of `header.json`, readable with any unzip, and one `<name>.npy` per array. The header
holds the name and version of the format and the `kind` of object that was saved.
"""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
