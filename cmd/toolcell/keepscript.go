package main

// scriptVariable brings a run's file and arguments to a driver that was started
// before. Programs do not have it.
const scriptVariable = "TOOLCELL_SCRIPT"

// laterPython has the driver take them, and import beforehand what is there of the
// modules that it is given, but nothing of the caller's own directory, nor what that
// has in its place: what is there may be another tomorrow.
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
    here, path = os.getcwd(), sys.path[:]
    os.chdir('/')
    sys.path[:] = [p for p in path if p and os.path.realpath(p) != here]
    try:
        for name in names:
            name = name.decode()
            own = os.path.join(here, name.partition('.')[0])
            try:
                if not os.path.exists(own) and not os.path.exists(own + '.py'):
                    __import__(name)
            except Exception:
                pass
    finally:
        os.chdir(here)
        sys.path[:] = path
`

// usualModules are what many programs import that takes long.
var usualModules = []string{"numpy", "pandas", "matplotlib.pyplot"}
