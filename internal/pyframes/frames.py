# Tracebacks without the frames of the code that runs programs.


def relinked(tb, drops):
    """Returns a traceback without the frames that drops(frame), which is asked for
    each in their order, says yes to."""
    first = last = None
    while tb is not None:
        if not drops(tb.tb_frame):
            if last is None:
                first = tb
            elif last.tb_next is not tb:
                last.tb_next = tb  # only here: to set it walks through all that follow
            last = tb
        tb = tb.tb_next
    if last is not None and last.tb_next is not None:
        last.tb_next = None
    return first


def drop_frames(error, dropping):
    """Takes frames from the tracebacks of an error, of those that it came of, and of
    those that it holds; dropping(outermost) returns what relinked asks for one of them.
    An error that others came of and that is left without a frame is left out."""
    errors, gone, todo = {}, {}, [error]
    while todo:
        e = todo.pop()
        if e is None or id(e) in errors:
            continue
        errors[id(e)] = e
        before = e.__traceback__
        e.__traceback__ = relinked(before, dropping(e is error))
        if before is not None and e.__traceback__ is None and e is not error:
            gone[id(e)] = e
        todo += [e.__cause__, e.__context__, *held(e)]
    for e in errors.values():
        came_of, passed = e.__context__, set()
        while id(came_of) in gone and id(came_of) not in passed:
            passed.add(id(came_of))
            came_of = came_of.__context__
        if passed:
            e.__context__ = came_of


def held(error):
    """Returns the errors that a group of them holds."""
    try:
        found = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    except Exception:
        return []  # Python before 3.11 has no groups
    return [e for e in found if isinstance(e, BaseException)] if type(found) is tuple else []
