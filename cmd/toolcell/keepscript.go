package main

// scriptVariable brings a run's file and arguments to a driver that was started
// before. Programs do not have it.
const scriptVariable = "TOOLCELL_SCRIPT"

// laterPython makes a driver take them, and import the modules that are installed of
// those that it is given.
const laterPython = `
def set_env(pairs, inner=set_env):
    rest = []
    for i in range(0, len(pairs), 2):
        if pairs[i] == b'` + scriptVariable + `':
            environb.pop(pairs[i], None)
            exec_(compile_(pairs[i + 1].decode(), OWN, 'exec'), globals())
        else:
            rest += pairs[i:i + 2]
    return inner(rest)


def preload(names):
    for name in names:
        try:
            __import__(name.decode())
        except Exception:
            pass
`

// usualModules are modules that many programs import and that take long.
var usualModules = []string{"numpy", "pandas", "matplotlib.pyplot"}
