# Compiles the standard library, which the program runs on, into an archive.
import os
import zipfile
import _imp
from importlib import _bootstrap_external as external

ROOT = '/usr/lib/python'


def compiled(name, source):
    """Returns a compiled file that holds whatever the source's time is."""
    code = compile(source, ROOT + '/' + name, 'exec', dont_inherit=True)
    return external._code_to_hash_pyc(code, _imp.source_hash(external._RAW_MAGIC_NUMBER, source), False)


# Parts that cannot work in the pack, or are of no use there.
LEFT_OUT = set('''test idlelib tkinter ensurepip lib2to3 turtledemo turtle.py pydoc_data venv curses dbm ctypes
    antigravity.py this.py site-packages _pyrepl __pycache__ __phello__ __hello__.py msilib multiprocessing'''.split())

files = {}
for folder, folders, names in os.walk(ROOT):
    folders[:] = [f for f in folders if f not in LEFT_OUT and not f.endswith('.dist-info')]
    for name in names:
        if name not in LEFT_OUT:
            with open(os.path.join(folder, name), 'rb') as f:
                files[os.path.relpath(f.name, ROOT)] = f.read()
with zipfile.ZipFile('/stdlib.zip', 'w') as archive:
    for name, data in sorted(files.items()):
        if name.endswith('.py'):
            try:
                name, data = name + 'c', compiled(name, data)
            except SyntaxError:
                continue  # of a template
        archive.writestr(zipfile.ZipInfo(name, (2025, 10, 9, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
None
