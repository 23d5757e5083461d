"""OpenCV, an optional extra that only some features need; it is imported when they are used."""


def from_opencv(name):
    """Return cv2.<name>.

    Raises
    ------
    ImportError
        If OpenCV is not installed or lacks the name; the message says what to install.
    """
    try:
        import cv2
    except ImportError as error:
        raise ImportError(
            f"cv2.{name} is needed, but OpenCV is not installed; run pip install 'paucens[opencv]'."
        ) from error
    if not hasattr(cv2, name):
        raise ImportError(
            f"OpenCV {cv2.__version__} has no {name}; it is part of version 4 (the wheels of version 5 lack HOG). "
            "Run pip install 'paucens[opencv]' and uninstall any other OpenCV wheel."
        )
    return getattr(cv2, name)
