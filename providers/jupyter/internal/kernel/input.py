# The standard input of runs.

import os, sys, tempfile


given = open(os.devnull)  # the standard input of a run without one


def read_line(prompt, out):
    """input() on sys.stdin."""
    print(prompt, end="", file=out, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line[:-1] if line.endswith("\n") else line


def hook_input(kernel):
    """Makes input() and getpass() fail if the client cannot be asked."""

    def refusing(plain, default, out):
        def read(prompt=default, *args, **kwargs):
            if sys.stdin is not given:
                return read_line(prompt, getattr(sys, out))
            while getattr(kernel, "_allow_stdin", False) and not pump.is_active():
                value = plain(prompt, *args, **kwargs)
                if not pump.is_answer(value):
                    return value
            print(prompt, end="", file=getattr(sys, out), flush=True)
            raise EOFError("there is no standard input: this run was given none")

        return read

    sys.stdin = sys.__stdin__ = given
    kernel.raw_input = refusing(kernel.raw_input, "", "stdout")
    kernel.getpass = refusing(kernel.getpass, "Password: ", "stderr")


def give_input(data):
    """Makes the next run read data, its children included. Returns what undoes it."""
    empty = os.dup(0)
    with tempfile.TemporaryFile() as f:
        f.write(data)
        f.flush()
        f.seek(0)
        os.dup2(f.fileno(), 0)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)

    def restore():
        sys.stdin = sys.__stdin__ = given
        os.dup2(empty, 0)
        os.close(empty)

    return restore
