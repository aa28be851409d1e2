# Where an interrupt raises KeyboardInterrupt, as far as asyncio goes. Upon code of
# asyncio's own, between two steps of tasks or in what queues the next one, it would lose
# that step: its task could neither go on nor be canceled. There it is put off, and looked
# at again wherever python calls handlers of signals, until it may be raised.

import sys
import _thread

WEAK = 'weakref.py', '_weakrefset.py', 'warnings.py'  # what these raise as objects end is lost

STUCK = 3


class Again:
    """Has the handler of SIGINT called again, as soon as python calls handlers. It is
    a variable of the handler's, and ends behind the last instruction of that: one that
    came earlier would be called upon the handler itself."""

    __del__ = _thread.interrupt_main


class PutOff:
    """An interrupt that may come upon asyncio's own code."""

    running = woken = last = jump = None
    times = 0  # that it came upon the same place, one after the other

    def learn(self):
        events, codes = sys.modules['asyncio.events'], sys.modules['opcode'].opmap
        self.running, self.file = events._get_running_loop, events.__file__
        self.asyncio = self.file[:-len('events.py')]
        self.library = self.asyncio[:-len('asyncio/')]
        self.weak = tuple(self.library + name for name in WEAK)
        self.call = [codes.get('CALL_FUNCTION_EX')]
        self.back = [n for name, n in codes.items() if 'JUMP_BACKWARD' in name] if sys.version_info < (3, 13) else []
        self.extended = [codes.get('EXTENDED_ARG')]

    def waits(self, frame):
        """Tells whether what a signal has come upon is to go on first, which ends the
        wait of the loop that runs. Where nothing goes on it is not."""
        if self.running is None:
            self.learn()
        at = frame, frame.f_lasti
        self.times = self.times + 1 if at == self.last else 0
        self.last = at
        if self.times > STUCK or at == self.jump:
            return False
        if self.jump is None and self.leaves_try(frame) and sys.gettrace() is None:
            self.jump = at
            have_looked_at(frame)
            return True
        if not self.is_midst(frame):
            return False
        loop = self.running()
        if loop is not None and loop is not self.woken:
            self.woken = loop
            loop.call_soon_threadsafe(int)
        return True

    def is_midst(self, frame):
        name, weak = frame.f_code.co_filename, False
        while self.has(name) and not name.startswith(self.asyncio):
            weak, frame = weak or name in self.weak, frame.f_back
            if frame is None:
                break
            name = frame.f_code.co_filename
        # Coroutines and what generates are parts of a step, which takes what they raise.
        return weak or frame is not None and name.startswith(self.asyncio) and not frame.f_code.co_flags & 0x3a0 and not self.calls_back(frame)

    def leaves_try(self, frame):
        """Tells whether what is raised at a frame's jump back would leave the try that goes
        on: CPython 3.11 and 3.12 take it for raised before the target, which may be where
        that try begins."""
        if self.has(frame.f_code.co_filename) or not is_at(frame, self.back):
            return False
        code, at, by, shift = frame.f_code.co_code, frame.f_lasti, 0, 0
        while not shift or at >= 0 and code[at] in self.extended:
            by |= code[at + 1] << shift
            at, shift = at - 2, shift + 8
        at = frame.f_lasti // 2
        return entry_for(frame.f_code, at) != entry_for(frame.f_code, at - by)

    def has(self, name):
        """Tells whether a file is of python's library."""
        return name.startswith((self.library, '<frozen ')) and '-packages' not in name[len(self.library):]

    def calls_back(self, frame):
        """Tells whether a frame is that of a step of the loop's which has begun."""
        return frame.f_code.co_name == '_run' and frame.f_code.co_filename == self.file and is_at(frame, self.call)


def is_at(frame, codes):
    """Tells whether a frame is at one of these instructions."""
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] in codes


def entry_for(code, at):
    """Returns what handles an error of the instruction at a place, by the code's table."""
    table, place = code.co_exceptiontable, 0
    while place < len(table):
        entry = []
        for _ in range(4):  # start, length, handler, depth: six bits a byte, the highest first
            n, more = 0, True
            while more:
                n, more, place = n << 6 | table[place] & 63, table[place] & 64, place + 1
            entry.append(n)
        if entry[0] <= at < entry[0] + entry[1]:
            return entry[2:]
    return None


def have_looked_at(frame):
    """Has python call handlers of signals at a frame's next instruction, whatever it is.
    That is soon, or the frame has ended."""
    others = iter(range(50))

    def trace(at, *_):  # they are called as this begins
        if at is frame or next(others, None) is None:
            sys.settrace(None)

    frame.f_trace, frame.f_trace_opcodes = trace, True
    sys._getframe().f_trace_opcodes = True  # CPython 3.12 looks at this one
    sys.settrace(trace)


def waits(off, frame):
    """Tells whether what a signal has come upon is to go on first."""
    try:
        return off.waits(frame)
    except Exception:
        return False  # the program has broken asyncio, or closed the loop
