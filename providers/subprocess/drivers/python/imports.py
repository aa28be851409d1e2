# Imports that need a hand. This follows display.py in one source.

COMPLETED = 'linecache', 'matplotlib', 'IPython.core.display_functions', 'IPython.display'
ABSENT = 'IPython', 'IPython.display'


class Finder:
    """A function as what finds modules."""

    def __init__(self, find):
        self.find_spec = find


def find_completed(name, path=None, target=None):
    """Completes modules as they are imported: linecache gets the sources of
    the programs, matplotlib a backend that shows, IPython.display ours."""
    return completed(name) if name in COMPLETED else None


def find_absent(name, path=None, target=None):
    """Stands in for IPython.display where IPython is not installed: programs
    written for notebooks import display, HTML, Image and their like from it."""
    return absent(name) if name in ABSENT else None


def find_missing(name, path=None, target=None):
    """Has the host install what the program's own imports do not find, where
    the host does that, which is a function of its."""
    return None if path is not None or later else installed(name)
