import atexit, sys, traceback


class Leaving:
    """The handlers that a program registers with atexit. Where it is its kernel's only
    one they are called at its end, while somebody hears what they say."""

    def __init__(self):
        self.active, self.calls = False, []
        self.register, self.unregister = atexit.register, atexit.unregister
        atexit.register, atexit.unregister = self.add, self.drop

    def add(self, func, /, *args, **kwargs):
        if not self.active:
            return self.register(func, *args, **kwargs)
        if not callable(func):
            raise TypeError("the first argument must be callable")
        self.calls.append((func, args, kwargs))
        return func

    def drop(self, func, /):
        self.calls = [call for call in self.calls if call[0] != func]
        self.unregister(func)

    def run(self):
        while self.calls:
            func, args, kwargs = self.calls.pop()
            try:
                func(*args, **kwargs)
            except KeyboardInterrupt:
                raise
            except SystemExit:
                pass
            except BaseException:
                print("Exception ignored in atexit callback:", repr(func), file=sys.stderr)
                traceback.print_exc()
