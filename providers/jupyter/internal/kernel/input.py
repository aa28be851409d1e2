# The standard input of runs: what they were given, and what input() and getpass() make
# of it. setup.py, which follows in one source, has the shell.

import io, os, sys, tempfile


class NoInput(io.TextIOBase):
    """Standard input of a run that was given none."""

    encoding, errors, mode, name = "utf-8", "strict", "r", "<stdin>"

    def fileno(self):
        return 0

    def readable(self):
        return True

    def refuse(self, *args):
        raise EOFError("there is no standard input: this run was given none")

    read = readline = readlines = __next__ = refuse


given = NoInput()


class Spare:
    """The descriptor of the standard input that runs have without any, and one that is
    there for when a program has left none."""

    def __init__(self):
        self.input, self.one = os.dup(0), os.dup(0)

    def lend(self):
        if self.one is not None:
            os.close(self.one)
            self.one = None

    def take(self):
        try:
            self.one = os.dup(self.input)
        except OSError:
            pass


def read_line(prompt, out):
    """What input() does with the standard input that there is, the program's own
    included."""
    if sys.__dict__.get("stdin") is None:
        raise RuntimeError("input(): lost sys.stdin")
    print(prompt, end="", file=out, flush=True)
    line = sys.stdin.readline()
    if not isinstance(line, str):
        raise TypeError("object.readline() returned non-string")
    if not line:
        raise EOFError("EOF when reading a line")
    return line[:-1] if line.endswith("\n") else line


def hook_input(kernel):
    """Lets input() and getpass() fail as reading does, where the client that
    asked for the run cannot be asked."""

    def refusing(plain, default, out):
        def read(prompt=default, *args, **kwargs):
            if sys.__dict__.get("stdin") is not given:
                return read_line(prompt, getattr(sys, out))
            while getattr(kernel, "_allow_stdin", False) and not pump.mine():
                value = plain(prompt, *args, **kwargs)
                if not pump.stray(value):
                    return value
            print(prompt, end="", file=getattr(sys, out), flush=True)
            raise EOFError("there is no standard input: this run was given none")

        return read

    sys.stdin = sys.__stdin__ = given  # programs return to the second
    global spare
    spare = Spare()
    kernel.raw_input = refusing(kernel.raw_input, "", "stdout")
    kernel.getpass = refusing(kernel.getpass, "Password: ", "stderr")


def give_input(kernel, data):
    """Has what runs read data, unless that is None. Returns what undoes it, or None."""
    if data is None:
        return None
    stdin, first = sys.__dict__.get("stdin", given), sys.__dict__.get("__stdin__", given)  # a program can delete them
    asked = kernel.raw_input, kernel.getpass
    spare.lend()
    os.dup2(spare.input, 0)  # else the file takes the place of one that the program has closed
    try:
        with tempfile.TemporaryFile() as f:
            f.write(data)
            f.flush()
            f.seek(0)
            # The descriptor too, which is what children and C code read.
            os.dup2(f.fileno(), 0)
    finally:
        spare.take()
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8", "surrogateescape")

    def read(prompt=""):
        return read_line(prompt, sys.stdout)

    def secret(prompt="Password: ", stream=None, **_):
        return read_line(prompt, stream or sys.stderr)

    kernel.raw_input, kernel.getpass = read, secret

    def restore():
        kernel.raw_input, kernel.getpass = asked
        sys.stdin, sys.__stdin__ = stdin, first
        os.dup2(spare.input, 0)

    return restore
