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


names = sorted(os.path.relpath(os.path.join(folder, file), ROOT) for folder, _, files in os.walk(ROOT) for file in files)
with zipfile.ZipFile('/stdlib.zip', 'w') as archive:
    for name in names:
        with open(os.path.join(ROOT, name), 'rb') as f:
            data = f.read()
        if name.endswith('.py'):
            try:
                name, data = name + 'c', compiled(name, data)
            except SyntaxError:
                continue  # of a template
        archive.writestr(zipfile.ZipInfo(name, (2025, 10, 9, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
None
