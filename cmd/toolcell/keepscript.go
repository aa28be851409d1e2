package main

// scriptVariable brings a run's file and arguments to the driver. Programs do not have it.
const scriptVariable = "TOOLCELL_SCRIPT"

// laterPython makes the driver take them when it starts or when a program begins in a
// process that is ready, and import those modules that are installed. It is the same for
// all scripts, so that it is compiled once.
const laterPython = `
def set_env(pairs, inner=set_env):
    rest = []
    for i in range(0, len(pairs), 2):
        if pairs[i] == b'` + scriptVariable + `':
            environb.pop(pairs[i], None)
            exec(compile(pairs[i + 1].decode(), OWN, 'exec'), globals())
        else:
            rest += pairs[i:i + 2]
    return inner(rest)


script = environb.pop(b'` + scriptVariable + `', None)
if script is not None:
    exec(compile(script.decode(), OWN, 'exec'), globals())


def preload(names):
    for name in names:
        try:
            __import__(name.decode())
        except Exception:
            pass
`

// maxScript is how many bytes they may take.
const maxScript = 64 << 10

// usualModules are modules that many programs import and that take long.
var usualModules = []string{"numpy", "pandas", "matplotlib.pyplot"}
