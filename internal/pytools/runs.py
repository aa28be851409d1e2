# Which of several runs what goes on in a thread belongs to: a thread to the run in
# which it was started, or, where a thread started it, to what that belongs to. A
# thread that C code started by itself is nobody's.
#
# The source around this defines present(), what is done here and now belongs to, and
# enter(mark), which has what this thread does belong to the mark as far as contexts
# go, and returns what undoes that. A mark of None says nothing.

import sys
import _thread


class Belongs(_thread._local):
    """What a thread belongs to. It ends with the thread, whose number others get."""

    to = None


belongs = Belongs()


class Start:
    """What a new thread does."""

    def __init__(self, function):
        self.function, self.mark = function, present()

    def __call__(self, /, *args, **kwargs):
        if self.mark is not None:
            belongs.to = self.mark
            enter(self.mark)
        try:
            self.function(*args, **kwargs)
        except BaseException as e:
            e.__traceback__ = e.__traceback__.tb_next  # without this frame
            raise

    def __repr__(self):
        return repr(self.function)


def starting(plain):
    def start(*args, **kwargs):
        if 'function' in kwargs:
            args = kwargs.pop('function'), *args
        if args and callable(args[0]):
            args = Start(args[0]), *args[1:]
        return plain(*args, **kwargs)

    start.__name__ = start.__qualname__ = plain.__name__
    start.__doc__, start.__module__ = plain.__doc__, plain.__module__
    return start


def note_threads():
    """Has threads know what they belong to, whatever starts them."""
    threading = sys.modules.get('threading')
    for name in ('start_new_thread', 'start_new', 'start_joinable_thread'):
        plain = getattr(_thread, name, None)
        if plain is not None:
            setattr(_thread, name, starting(plain))
            if getattr(threading, '_' + name, None) is plain:
                setattr(threading, '_' + name, getattr(_thread, name))
