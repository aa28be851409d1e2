//go:build linux && real && full

package notebook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/notebook"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// notebooks are eight as people write them, by their cells.
var notebooks = map[string][]string{
	"sales": {
		"import pandas as pd\nimport numpy as np",
		"df = pd.DataFrame({'region': ['north', 'south', 'north', 'east'], 'units': [10, 7, 3, 5], 'price': [2.5, 4.0, 2.5, np.nan]})\ndf",
		"df.describe()",
		"df['revenue'] = df['units'] * df['price']\ndf.groupby('region')['revenue'].agg(['sum', 'mean'])",
		"df['units'].value_counts().sort_index()",
		"print(df.to_string(index=False))",
		"df.isna().sum()",
		"pivot = df.pivot_table(index='region', values='units', aggfunc='sum')\npivot.style.set_caption('Units').to_latex()[:20]",
		"df.dtypes",
	},
	"figures": {
		"%matplotlib inline\nimport numpy as np\nimport matplotlib.pyplot as plt",
		"x = np.linspace(0, 6, 50)\nplt.plot(x, np.sin(x), label='sin')\nplt.legend()",
		"fig, axes = plt.subplots(1, 2, figsize=(6, 2))\naxes[0].bar(['a', 'b'], [1, 2])\naxes[1].scatter(x, np.cos(x))\nplt.tight_layout()\nplt.show()\nprint('two')",
		"plt.hist([1, 2, 2, 3]);",
		"for n in range(2):\n    plt.figure()\n    plt.title(n)\n    plt.plot([n, n + 1])",
		"fig, ax = plt.subplots()\nax.plot([1, 2])\nplt.close(fig)\nfig.axes[0].get_lines()[0].get_xdata()",
	},
	"magics": {
		"%%capture got\nprint('hidden')\n1",
		"got.stdout",
		"%env NOTEBOOK_KIND=test",
		"import os\nos.environ['NOTEBOOK_KIND']",
		"%%writefile helper.py\ndef double(x):\n    return 2 * x\n",
		"!cat helper.py",
		"from helper import double\ndouble(21)",
		"names = !ls *.py\nlist(names)",
		"%%bash\nfor i in 1 2; do echo line $i; done",
		"%run helper.py\ndouble('ab')",
		"%%writefile argv.py\nimport sys\nprint(sys.argv)\n",
		"%run argv.py 1 'a b'",
		"%%script bash\necho scripted",
		"%%bash\necho warned >&2",
		"word = 'python'\n!echo {word.upper()} $word",
		"%%time\nsum(range(1000))",
		"%time len('abc')",
		"%timeit -n 1 -r 2 pass",
	},
	"failures": {
		"values = [1, 2, 0]",
		"for v in values:\n    print(10 // v)",
		"print('still here')",
		"def f(n):\n    if n == 0:\n        raise ValueError('too deep:\\nstop')\n    f(n - 1)\nf(3)",
		"if True print('no colon')",
		"undefined_name",
		"class Mine(Exception):\n    pass\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise Mine('wrapped', 7) from e",
		"import nosuchmodule",
		"assert len(values) == 4, 'wrong length'",
		"{}['key']",
		"values",
	},
	"displays": {
		"from IPython.display import display, HTML, Markdown, JSON, Latex, SVG, clear_output",
		"display(HTML('<b>bold</b>'))\ndisplay(Markdown('# title'))",
		"JSON({'a': [1, 2, {'b': None}]})",
		"Latex('$x^2$')",
		"SVG('<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"4\"/>')",
		"class Card:\n    def __repr__(self):\n        return 'Card()'\n    def _repr_html_(self):\n        return '<i>card</i>'\nCard()",
		"[Card(), Card()]",
		"for i in range(3):\n    clear_output(wait=True)\n    print('step', i)",
		"display('text', 5, {'k': Card()})",
		"h = display('first', display_id=True)\nh.update('second')",
	},
	"session": {
		"1 + 1", "_ + 1", "_1 * 10", "x = 5\nx;", "x", "None", "print(_)",
		"import asyncio\nasync def work(n):\n    await asyncio.sleep(0)\n    return n * n\nawait asyncio.gather(work(2), work(3))",
		"import logging\nlogging.getLogger('nb').warning('careful')",
		"import warnings\nwarnings.warn('old', DeprecationWarning)",
		"import sys\nprint('out')\nprint('err', file=sys.stderr)",
		"import threading\nt = threading.Thread(target=print, args=('from a thread',))\nt.start(); t.join()",
		"print('a', end='')\nprint('b', flush=True)\nsys.stdout.write('c\\n')",
	},
	"language": {
		"from dataclasses import dataclass, field\n@dataclass\nclass Point:\n    x: int\n    y: int = 0\n    tags: list = field(default_factory=list)\nPoint(1)",
		"[Point(i, i * i) for i in range(12)]",
		"{'nested': {'list': list(range(40)), 'text': 'x' * 60}, 'set': {3, 1, 2}}",
		"(i for i in range(3))", "b'bytes\\xff', 'ünïcode ☃', 1.0, 2j, True, ...",
		"import collections\ncollections.Counter('mississippi').most_common(2)",
		"def gen():\n    yield from 'abc'\nlist(gen())",
		"match Point(1, 2):\n    case Point(x=1, y=y):\n        print('y is', y)",
		"print('\\n'.join(f'{n:>3}|{n**2:<6}|{n / 3:.2f}' for n in range(5)))",
		"from decimal import Decimal\nfrom fractions import Fraction\nfrom datetime import date\nDecimal('1.10'), Fraction(2, 6), date(2024, 2, 29)",
	},
	"data": {
		"import csv, json, re, sqlite3\nfrom pathlib import Path",
		"with open('cities.csv', 'w', newline='') as f:\n    w = csv.writer(f)\n    w.writerow(['city', 'people'])\n    w.writerows([['Oslo', 700000], ['Lima', 10000000]])\nPath('cities.csv').read_text()",
		"import pandas as pd\ncities = pd.read_csv('cities.csv')\ncities.sort_values('people')",
		"print(json.dumps(cities.to_dict(orient='records'), indent=1))",
		"db = sqlite3.connect(':memory:')\ncities.to_sql('cities', db, index=False)",
		"db.execute('select city from cities where people > 1e6').fetchall()",
		"pd.read_sql('select count(*) as n, avg(people) as mean from cities', db)",
		"re.findall(r'\\w+', 'one, two; three')", "sorted(p.name for p in Path('.').glob('*.csv'))",
		"cities.plot.bar(x='city', y='people');",
		"cities.info(memory_usage=False)",
	},
}

// nbclient runs the notebooks of a directory with ipykernel, each in one of its own.
const nbclient = `
import asyncio, pathlib, sys, nbformat
from nbclient import NotebookClient
async def run(path):
    nb = nbformat.read(path, 4)
    work = path.with_suffix(".nbclient")
    work.mkdir()
    await NotebookClient(nb, allow_errors=True, timeout=300, resources={"metadata": {"path": str(work)}}).async_execute()
    nbformat.write(nb, path.with_suffix(".want"))
async def main():
    for path in pathlib.Path(sys.argv[1]).glob("*.ipynb"):
        await run(path)
asyncio.run(main())
`

// vary are what differs from run to run: addresses, names of cells, and times; and the lines
// in which IPython shows what is long.
var vary = regexp.MustCompile(`( object)? at 0x[0-9a-f]+|/tmp/ipykernel_\S+|<cell \S+| \(\d+\.py, line \d+\)|\\n +|\d+(\.\d+)? ?(ns|[uµμ]s|ms|s)\b( ± \d\S* ?\S+)?|(?m)^(CPU times|Wall time): .*`)

// outputsOf writes a cell's outputs: each stream as one, and of pictures that there is one.
func outputsOf(c *notebook.Cell) string {
	text := map[string]string{}
	var list []string
	for _, o := range c.Outputs {
		switch o.Type {
		case notebook.Stream:
			text[o.Name] += strings.ReplaceAll(o.Text, "\r\n", "\n")
		case notebook.Failure:
			list = append(list, fmt.Sprintf("error %s: %s", o.Error, o.Message))
		default:
			for mime, data := range o.Data {
				if mime == "image/png" {
					data = nil
				}
				var short bytes.Buffer
				if json.Compact(&short, data) == nil {
					data = short.Bytes()
				}
				list = append(list, fmt.Sprintf("%s %s: %s", o.Type, mime, data))
			}
		}
	}
	slices.Sort(list)
	return strings.TrimSpace(vary.ReplaceAllString(fmt.Sprintf("[%d] stdout %q stderr %q\n%s", c.ExecutionCount, text["stdout"], text["stderr"], strings.Join(list, "\n")), " "))
}

// TestNotebooksAgree runs notebooks with isolated local Python, and wants the outputs that
// nbclient gives with ipykernel.
func TestNotebooksAgree(t *testing.T) {
	python := filepath.Join(jupytertest.Environment(t, "server6"), "bin/python")
	dir := t.TempDir()
	for name, cells := range notebooks {
		nb := &notebook.Notebook{Metadata: map[string]json.RawMessage{"kernelspec": json.RawMessage(`{"name": "python3", "display_name": "Python 3", "language": "python"}`)}}
		for _, source := range cells {
			nb.Cells = append(nb.Cells, notebook.Cell{Source: source})
		}
		write(t, filepath.Join(dir, name+".ipynb"), nb)
	}
	if out, err := exec.CommandContext(t.Context(), python, "-c", nbclient, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l := subprocess.Python()
	l.Commands = []string{python}
	ci, err := subprocess.NewStateful(&subprocess.Options{Languages: []subprocess.Language{l}})
	if err != nil {
		t.Fatal(err)
	}
	defer ci.Close()
	load := func(file string) *notebook.Notebook {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		return nb
	}
	for name := range notebooks {
		t.Run(name, func(t *testing.T) {
			got, want := load(name+".ipynb"), load(name+".want")
			if _, err := notebook.Run(t.Context(), ci, got, &notebook.Options{AllowErrors: true}); err != nil {
				t.Fatal(err)
			}
			for i := range got.Cells {
				if g, w := outputsOf(&got.Cells[i]), outputsOf(&want.Cells[i]); g != w {
					t.Errorf("%s\ngot %s\nnbclient %s", got.Cells[i].Source, g, w)
				}
			}
		})
	}
}
