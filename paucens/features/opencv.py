"""OpenCV, which only some features need: an optional extra, imported when they are used."""


def from_opencv(name):
    """Return cv2.<name>.

    Raises
    ------
    ImportError
        Where OpenCV is not installed or lacks the name; the message says what to install.
    """
    try:
        import cv2
    except ImportError as error:
        raise ImportError(
            f"cv2.{name} is needed, but OpenCV is not installed; run pip install 'paucens[opencv]'."
        ) from error
    if not hasattr(cv2, name):
        raise ImportError(
            f"OpenCV {cv2.__version__} has no {name}; version 4 has (5 dropped HOG from its wheels). Run "
            "pip install 'paucens[opencv]', beside which no other OpenCV wheel may be installed."
        )
    return getattr(cv2, name)
