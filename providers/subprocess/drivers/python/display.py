# What programs call to show things. This follows channel.py in one source.

PYLAB = 'matplotlib._pylab_helpers'


def display(*objs, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False, **kw):
    """Shows objects by their rich representations.

    With display_id=True, or an id, the display can be updated later, by
    update_display or the handle that is returned.
    """
    if clear:
        clear_output(wait=True)
    handle = DisplayHandle(None if display_id is True else display_id) if display_id else None
    show_all('display', objs, include, exclude, metadata, handle.display_id if handle else '', raw)
    return handle


def update_display(obj, *, display_id, include=None, exclude=None, metadata=None, transient=None, raw=False, **kw):
    """Replaces the displays that have the id."""
    show_all('update', (obj,), include, exclude, metadata, display_id, raw)


def clear_output(wait=False):
    """Withdraws what the run has shown and printed; with wait, once there is more."""
    show('clear wait' if wait else 'clear', {})


def figures():
    """Shows matplotlib's open figures, and closes them."""
    if modules.get(PYLAB):
        show_figures(modules[PYLAB].Gcf)
