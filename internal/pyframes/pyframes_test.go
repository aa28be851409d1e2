package pyframes

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// program raises errors in ways that go through code of another file, named own, and
// prints their frames: a function of the program, or own's as its name in capitals.
const program = `
own = {}
exec(compile('''
def READ(): raise EOFError
def CALL(f): return f()
def HIDE():
  try: READ()
  except EOFError: raise KeyError
def PASS(f):
  try: READ()
  except EOFError: f()
''', 'own', 'exec'), own)
READ, CALL, HIDE, PASS = map(own.get, ('READ', 'CALL', 'HIDE', 'PASS'))

def fail(): 1 / 0
def inner(): CALL(fail)
def again():
  try: READ()
  except EOFError as e: raise ValueError from e

def told(e):
  if e is None: return ''
  names, tb = [], e.__traceback__
  while tb is not None:
    names.append(tb.tb_frame.f_code.co_name.replace('<module>', 'main'))
    tb = tb.tb_next
  return ' '.join(names) + (' after ' + told(e.__context__) if e.__context__ else '')

def main(run):
  try: run()
  except BaseException as e:
    drop_frames(e, lambda outermost: lambda frame: frame.f_code.co_filename == 'own')
    print(told(e))

for run in READ, inner, lambda: CALL(inner), again, HIDE, lambda: PASS(fail), lambda: PASS(again): main(run)
`

func TestFrames(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	out, err := exec.CommandContext(t.Context(), python, "-c", Source+program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := []string{"main", "main inner fail", "main <lambda> inner fail", "main again after again", "main", "main <lambda> fail", "main <lambda> again after again"}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
