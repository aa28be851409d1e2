# IPython's syntax, as far as notebooks mostly use it, for cells that are no plain Python:
# translate returns what is compiled instead.

re = own_import('re')

ASSIGNED = re.compile(r'^(\s*)([\w.,\[\] ]+?)\s*=\s*([!%])(?!=)(.*)$')
HELP = re.compile(r'^(\s*)(?=[^?]*\?{1,2}[^?]*$)(\??\??)([A-Za-z_][\w.]*)(\??\??)\s*$')
NAME = '__toolcell_magic__'


def translate(code, error):
    """Returns the Python of a cell, None where it has nothing of IPython's."""
    lines = code.split('\n')
    first = next((i for i, l in enumerate(lines) if l.strip()), 0)
    builtins.__dict__[NAME] = magic
    if lines[first].startswith('%%'):
        name, _, line = lines[first][2:].partition(' ')
        return '\n' * first + '%s(%r, %r, %r)' % (NAME, '%%' + name.strip(), line.strip(), '\n'.join(lines[first + 1:]))
    out, changed, i = [], False, 0
    while i < len(lines):
        whole, n = lines[i], 1
        if whole.lstrip()[:1] in ('%', '!') or ASSIGNED.match(whole):
            while whole.endswith('\\') and i + n < len(lines):
                whole, n = whole[:-1] + lines[i + n].strip(), n + 1
        new = translated_line(whole)
        if new != whole:
            changed = True
            out += [new] + [''] * (n - 1)
        else:
            out += lines[i:i + n]
        i += n
    return within_strings(code, out) if changed else None


def within_strings(code, out):
    """Returns the translated lines, but for those inside of strings and brackets."""
    lines, kept = code.split('\n'), list(out)
    for i, line in enumerate(lines):
        if kept[i] != line and is_inside('\n'.join(kept[:i])):
            kept[i] = line
    return '\n'.join(kept)


def is_inside(before):
    """Tells whether a source ends in the midst of a string or bracket."""
    tokenize, depth = own_import('tokenize'), 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(before + '\n').readline):
            pass
    except (tokenize.TokenError, SyntaxError) as e:
        return 'EOF in multi-line' in str(e) or 'unterminated triple' in str(e)
    return False


def translated_line(line):
    indent = line[:len(line) - len(line.lstrip())]
    text = line.strip()
    if text.startswith('!'):
        return '%s%s("!", %s)' % (indent, NAME, argument(text.lstrip('!')))
    if text.startswith('%') and text[1:2].isalpha():
        name, _, rest = text[1:].partition(' ')
        return '%s%s(%r, %s)' % (indent, NAME, '%' + name, argument(rest.strip()))
    m, to = HELP.match(line), ASSIGNED.match(line)
    if m:
        return '%s%s(%r, %r)' % (m[1], NAME, m[2] or m[4], m[3])
    if to and (to[3] == '!' or to[4][:1].isalpha()):
        name, _, rest = ('=', '', to[4]) if to[3] == '!' else to[4].partition(' ')
        return '%s%s = %s(%r, %s)' % (to[1], to[2], NAME, '=!' if to[3] == '!' else '%' + name, argument(rest.strip()))
    return line


def argument(line):
    """Returns the source of a line with {expressions} and $names of the program's."""
    parts = re.split(r'(\{[^{}]+\}|\$[A-Za-z_]\w*)', line)
    out = []
    for part in parts:
        name = part[1:-1] if part.startswith('{') else part[1:] if part.startswith('$') else ''
        out.append('%s(".", %r, %r)' % (NAME, name, part) if name else repr(part))
    return ' + '.join(out)


def magic(name, line, body=None):
    """Does what a magic says. The commands of the shell are bash's."""
    if name == '.':
        try:
            return str(eval(line, space, sys._getframe(1).f_locals))
        except Exception:
            return body
    if name in ('!', '=!'):
        if is_pip(line):
            return pip_line(line)
        return shell(line, name == '=!')
    if name in ('?', '??'):
        return show_help(line, name == '??')
    run = (cell_magics if name.startswith('%%') else line_magics).get(name.lstrip('%'))
    if run is None:
        raise NameError('%s is a magic of IPython that is not known here: use plain Python' % name)
    return run(line) if body is None else run(line, body)


def shell(line, capture=False, program=None, input=None):
    """Runs a command line; its output is the program's, or the lines that are returned."""
    import subprocess
    flush()
    args = program or (['bash', '-c', line] if os.path.exists('/bin/bash') else ['sh', '-c', line])
    child = subprocess.Popen(args, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=None if capture or program else subprocess.STDOUT, text=True, errors='replace')
    if input is not None:
        with own_import('contextlib').suppress(BrokenPipeError):
            child.stdin.write(input)
            child.stdin.close()
    lines = []
    for out in child.stdout:
        lines.append(out.rstrip('\n')) if capture else sys.stdout.write(out)
    space['_exit_code'] = child.wait()
    if capture:
        return Lines(lines)
    if program and child.returncode:
        raise subprocess.CalledProcessError(child.returncode, args[0])


class Lines(list):
    """The output of a command: its lines; n and s are those as one text."""

    n = property('\n'.join)
    s = property(' '.join)
    l = property(list)


def is_pip(line):
    return line.split()[:1] in (['pip'], ['pip3']) or line.split()[1:3] == ['-m', 'pip']


def pip_line(line):
    words = line.split()
    if 'install' in words and installs():
        return pip_install(' '.join(words[words.index('install') + 1:]))
    if 'install' in words:
        raise RuntimeError('%pip: programs install no packages here; use those that are there, or ask for others')
    return shell(sys.executable + ' -m ' + ' '.join(words[words.index('pip' if 'pip' in words else words[0]):]))


def show_help(name, source):
    import inspect
    try:
        v = eval(name, space)
    except Exception:
        print('Object `%s` not found.' % name)
        return
    try:
        print('Signature: ' + name.rpartition('.')[2] + str(inspect.signature(v)))
    except (TypeError, ValueError):
        print('Type: %s\nString form: %s' % (type(v).__name__, repr(v)[:1000]))
    try:
        print('Source:\n' + inspect.getsource(v) if source else 'Docstring:\n' + (inspect.getdoc(v) or '<no docstring>'))
    except (TypeError, OSError):
        print('Docstring:\n' + (inspect.getdoc(v) or '<no docstring>'))


def run_cell(code):
    """Runs a piece of a cell in the program's namespace and returns its last value."""
    code = own_import('textwrap').dedent(code)
    name = state.name + ' (magic)'
    remember(name, code)
    body, last = compile_tree(code, name)
    return evaluate(body, last)


def time_magic(line, body=None):
    import time
    code = line if body is None else (line + '\n' + body if line else body)
    cpu, wall = os.times(), time.perf_counter()
    try:
        return run_cell(code)
    finally:
        after, wall = os.times(), time.perf_counter() - wall
        user, system = after[0] - cpu[0], after[1] - cpu[1]
        print('CPU times: user %s, sys: %s, total: %s\nWall time: %s' % tuple(map(span, (user, system, user + system, wall))))


def span(s):
    unit, size = next(((u, n) for u, n in (('s', 1), ('ms', 1e-3), ('\u00b5s', 1e-6)) if s >= n), ('ns', 1e-9))
    return '%.3g %s' % (s / size, unit)


def timeit_magic(line, body=None):
    import statistics, timeit
    number, repeat, quiet, line = 0, 7, False, line.strip()
    while option := re.match(r'(?:-([nrp])\s*(\d+)|-([qoct]))(?:\s+|$)', line):
        if option[1] == 'n':
            number = int(option[2])
        elif option[1] == 'r':
            repeat = int(option[2])
        quiet = quiet or option[3] == 'q'
        line = line[option.end():]
    timer = timeit.Timer(line if body is None else body, setup=line if body is not None and line else 'pass', globals=space)
    if not number:
        number = 1
        while timer.timeit(number) < 0.2 and number < 10 ** 9:
            number *= 10
    all = [t / number for t in timer.repeat(repeat, number)]
    if not quiet:
        print('%s \u00b1 %s per loop (mean \u00b1 std. dev. of %d runs, %s loop%s each)' % (
            span(statistics.mean(all)), span(statistics.pstdev(all)), repeat, format(number, ','), '' if number == 1 else 's'))


class Captured:
    """The output that %%capture has taken: stdout and stderr."""

    def __init__(self, stdout, stderr):
        self.stdout, self.stderr, self.outputs = stdout, stderr, []

    def show(self):
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)

    __call__ = show
    __str__ = lambda self: self.stdout


def capture_magic(line, body):
    import contextlib
    out, err = io.StringIO(), io.StringIO()
    names = [word for word in line.split() if not word.startswith('-')]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run_cell(body)
    finally:
        if names:
            space[names[0]] = Captured(out.getvalue(), err.getvalue())


def writefile_magic(line, body):
    words = line.split()
    append = '-a' in words
    name = next(word for word in words if not word.startswith('-'))
    there = os.path.exists(name)
    with open(os.path.expanduser(name), 'a' if append else 'w', encoding='utf-8') as f:
        f.write(body if body.endswith('\n') or not body else body + '\n')
    print(('Appending to ' if append else 'Overwriting ' if there else 'Writing ') + name)


def run_magic(line):
    words = own_import('shlex').split(line)
    argv, sys.argv = sys.argv, words[1:] if words[0] == '-i' else words
    try:
        with open(sys.argv[0], encoding='utf-8') as f:
            exec(compile(f.read(), sys.argv[0], 'exec'), space)
    finally:
        sys.argv = argv


def cd_magic(line):
    os.chdir(os.path.expanduser(line.strip('"\'') or '~'))
    print(os.getcwd())


def env_magic(line):
    name, equals, value = line.partition('=') if '=' in line else line.partition(' ')
    if not line:
        return dict(environ)
    if not equals:
        return environ[name]
    environ[name.strip()] = value.strip()
    print('env: %s=%s' % (name.strip(), value.strip()))


def ignored(line, body=None):
    if body is not None:
        return run_cell(body)


def script(program):
    return lambda line, body: shell(line, program=[program, *line.split()], input=body + '\n')


def shown(mime):
    return lambda line, body: display({mime: body}, raw=True)


class Shell:
    """What get_ipython() returns: as much of IPython's shell as exported notebooks use."""

    user_ns = space

    def run_line_magic(self, name, line, *args):
        return magic('%' + name, line)

    def run_cell_magic(self, name, line, cell):
        return magic('%%' + name, line, cell)

    def system(self, line):
        return magic('!', line)

    def getoutput(self, line):
        return magic('=!', line)


line_magics = {'time': time_magic, 'timeit': timeit_magic, 'cd': cd_magic, 'env': env_magic, 'set_env': env_magic, 'pwd': lambda line: os.getcwd(),
               'pip': lambda line: pip_line('pip ' + line), 'sx': lambda line: shell(line, True), 'system': lambda line: shell(line, True),
               'who': lambda line: print(*[k for k in space if not k.startswith('_')], sep='\t'),
               'run': run_magic}
for name in 'ls', 'mkdir', 'cat', 'rm', 'mv', 'cp':
    line_magics[name] = lambda line, name=name: shell(name + ' ' + line)
for name in 'matplotlib', 'config', 'load_ext', 'reload_ext', 'autoreload', 'precision', 'pylab', 'autosave', 'xmode', 'colors', 'warnings':
    line_magics[name] = ignored
cell_magics = {'time': time_magic, 'timeit': timeit_magic, 'capture': capture_magic, 'writefile': writefile_magic, 'file': writefile_magic,
               'script': lambda line, body: shell(line, program=line.split(), input=body + '\n')}
for name, mime in (('html', 'text/html'), ('HTML', 'text/html'), ('markdown', 'text/markdown'), ('latex', 'text/latex'), ('svg', 'image/svg+xml'),
                   ('javascript', 'application/javascript'), ('js', 'application/javascript')):
    cell_magics[name] = shown(mime)
for name, program in ('bash', 'bash'), ('sh', 'sh'), ('perl', 'perl'), ('ruby', 'ruby'), ('python', sys.executable), ('python3', sys.executable):
    cell_magics[name] = script(program)
