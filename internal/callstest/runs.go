package callstest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Stage is one of several programs in Python that one context runs.
type Stage struct {
	Code, Stdout string
	Late         []string // the lines that are printed late, sorted
	Calls        int      // that reach a function
}

// Scenes are Stages that belong together.
type Scenes struct {
	Name   string
	Stages []Stage
}

// Runs is what each of several runs of one context calls and prints by threads, those
// of pools among them; the last leaves the context without some of its modules' names.
func Runs() []Scenes {
	return []Scenes{
		{"threads", []Stage{{Code: saying + threadsLeft}, {threadsWoken, told("of the run") + refused(leftThreads), said(leftThreads), 1}}},
		{"numbers of threads that are gone", []Stage{{Code: saying + threadsGone}, {threadsNew, strings.Repeat("said raw\n", 20) + "True\n", nil, 20}}},
		{"pools", []Stage{{saying + poolsMade, told("executor", "loop"), nil, 2}, poolsStage, poolsStage}},
		{"work that is left", []Stage{{Code: saying + workLeft}, {workWoken,
			told("of the run", "on the earlier pool") + refused(leftWork), said(leftWork), 2}}},
		{"errors", []Stage{{Code: rawErrors, Stdout: "TypeError TypeError\n3 True True\n"}}},
		{"growth", []Stage{{Code: growth, Stdout: "True\n"}}},
		{"replaced", []Stage{{Code: saying + replaces}, {replacedUsed, told("own"), nil, 1}}},
	}
}

// RunsOfPools are the same for the pools of multiprocessing, which need semaphores.
func RunsOfPools() []Scenes {
	return []Scenes{
		{"pools of multiprocessing", []Stage{{saying + threadsMade, told("pool"), nil, 1}, threadsStage, threadsStage}},
		{"work that is left in those", []Stage{{Code: saying + tasksLeft}, {tasksWoken,
			told("on the earlier pool") + refused(leftTasks), said(leftTasks), 1}}},
	}
}

const (
	// saying has threads call and print, and lists what they were told: what is of
	// this run has been said by then, and what is of another is Late.
	saying = `
import _thread, asyncio, contextvars, threading
from concurrent.futures import ThreadPoolExecutor
go, told, done = threading.Event(), [], threading.Semaphore(0)
def say(name):
    try: told.append('%s: %s' % (name, tools.echo(v=1)))
    except ToolError as e: told.append('%s: %s' % (name, e.message))
    print('said %s\n' % name, end='', flush=True)
    done.release()
def wait(f, *args):
    go.wait()
    return f(*args)
def own(start, *args):
    start(*args)
    done.acquire()
def list_told():
    for t in sorted(told, key=lambda t: (not t.endswith('1'), t)): print(t)
    told.clear()
`

	threadsLeft = `
async def this(): return asyncio.get_running_loop()
loop = await this()
_thread.start_new_thread(wait, (say, 'raw'))
threading.Thread(target=wait, args=(say, 'thread')).start()
threading.Thread(target=wait, args=(_thread.start_new_thread, say, ('raw of a thread',))).start()
_thread.start_new_thread(wait, (lambda: threading.Thread(target=say, args=('thread of a raw one',)).start(),))
_thread.start_new_thread(wait, (contextvars.Context().run, say, 'without a context'))
_thread.start_new_thread(wait, (loop.call_soon_threadsafe, say, 'callback'))
`
	threadsWoken = `
go.set()
for _ in range(6):
    while not done.acquire(blocking=False): await asyncio.sleep(0.01)
own(_thread.start_new_thread, say, ('of the run',))
list_told()`

	threadsGone = `
def start():
    lock = _thread.allocate_lock()
    lock.acquire()
    _thread.start_new_thread(lock.release, ())
    lock.acquire()
ts = [threading.Thread(target=int) for _ in range(50)]
for t in ts: t.start(); start()
for t in ts: t.join()
`
	threadsNew = `
for i in range(20): own(_thread.start_new_thread, say, ('raw',))
print(told == ['raw: 1'] * 20)`

	poolsMade = `
pool = ThreadPoolExecutor(2)
pool.submit(say, 'executor').result()
await asyncio.get_running_loop().run_in_executor(None, say, 'loop')
list_told()
`
	poolsUsed = `
pool.submit(say, 'submit').result()
list(pool.map(say, ['map']))
f = pool.submit(wait, int)
f.add_done_callback(lambda f: say('callback'))
done = threading.Semaphore(0)
own(go.set)
go.clear()
await asyncio.get_running_loop().run_in_executor(None, say, 'run_in_executor')
await asyncio.to_thread(say, 'to_thread')
list_told()`

	threadsMade = `
from multiprocessing.pool import ThreadPool
pool = ThreadPool(2)
pool.apply(say, ('pool',))
list_told()`
	threadsUsed = `
pool.apply(say, ('apply',))
pool.map(say, ['pool map'])
pool.starmap(say, [('starmap',)])
list(pool.imap(say, ['imap']))
list(pool.imap_unordered(func=say, iterable=['imap_unordered']))
pool.apply_async(int, callback=lambda v: say('called back')).wait()
list_told()`

	workLeft = `
pool, ready, later = ThreadPoolExecutor(1), asyncio.Event(), []
pool.submit(wait, say, 'work that runs on')
pool.submit(say, 'work that starts later')
async def task():
    await ready.wait()
    await asyncio.get_running_loop().run_in_executor(None, say, 'given by a task')
task = asyncio.create_task(task())
_thread.start_new_thread(wait, (lambda: later[0].submit(say, 'given by a thread'),))
await asyncio.sleep(0)
`
	workWoken = `
later.append(ThreadPoolExecutor(1))
own(later[0].submit, say, 'of the run')
go.set(); ready.set()
await task
for _ in range(4): done.acquire()
pool.submit(say, 'on the earlier pool').result()
list_told()`

	tasksLeft = `
from multiprocessing.pool import ThreadPool
pool = ThreadPool(1)
pool.apply_async(wait, (say, 'work that runs on'))
_ = pool.map_async(say, ['work that starts later'], callback=lambda v: say('called back'))
`
	tasksWoken = `
go.set()
for _ in range(3): done.acquire()
pool.apply(say, ('on the earlier pool',))
list_told()`

	replaces = `
submit = ThreadPoolExecutor.submit
class Thread(threading.Thread): pass
threading.Thread = Thread
ThreadPoolExecutor.submit = lambda self, *args: submit(self, *args)
del _thread.start_new_thread
`
	replacedUsed = `
own(threading.Thread(target=say, args=('own',)).start)
list_told()`

	rawErrors = `
import _thread, sys, time
def error(*args):
    try: _thread.start_new_thread(*args)
    except Exception as e: return type(e).__name__
def fails(a, b): got.append(a + b); raise ValueError
got, hook = [], sys.unraisablehook
def caught(a):
    own = a.exc_traceback.tb_frame.f_code.co_name == 'fails' or sys.version_info < (3, 11)
    got.extend(['<function fails' in '%r %s' % (a.object, a.err_msg), own])
sys.unraisablehook = caught
print(error(1, ()), error(fails))
_thread.start_new_thread(fails, (1,), {'b': 2})
while len(got) < 3: time.sleep(0.01)
sys.unraisablehook = hook
print(*got)`

	growth = `
import _thread, gc, threading
from concurrent.futures import ThreadPoolExecutor
pool, done = ThreadPoolExecutor(2), threading.Semaphore(0)
def objects():
    for _ in range(200):
        _thread.start_new_thread(done.release, ())
        pool.submit(done.release)
        for _ in range(2): done.acquire()
    gc.collect()
    return len(gc.get_objects())
objects()
few = objects()
print(objects() - few < 100)`
)

// What is left in threads and in work, and what is given to pools.
var (
	leftThreads  = []string{"callback", "raw", "raw of a thread", "thread", "thread of a raw one", "without a context"}
	leftWork     = []string{"given by a task", "given by a thread", "work that runs on", "work that starts later"}
	leftTasks    = []string{"called back", "work that runs on", "work that starts later"}
	work         = []string{"submit", "map", "callback", "run_in_executor", "to_thread"}
	tasks        = []string{"apply", "pool map", "starmap", "imap", "imap_unordered", "called back"}
	poolsStage   = Stage{poolsUsed, told(work...), nil, len(work)}
	threadsStage = Stage{threadsUsed, told(tasks...), nil, len(tasks)}
)

// said is what is printed where the names are said.
func said(names []string) (lines []string) {
	for _, name := range names {
		lines = append(lines, "said "+name)
	}
	return lines
}

// told is what is printed by a run that says the names one after the other, and
// then lists that each call was answered.
func told(names ...string) string {
	list := slices.Sorted(slices.Values(names))
	return strings.Join(said(names), "\n") + "\n" + strings.Join(list, ": 1\n") + ": 1\n"
}

// refused is the list where each call was refused.
func refused(names []string) string {
	names = slices.SortedFunc(slices.Values(names), func(a, b string) int { return strings.Compare(a+":", b+":") })
	return strings.Join(names, ": the run has ended\n") + ": the run has ended\n"
}

// RunScenes runs all stages one after the other by run, and wants of each what it says.
func RunScenes(t *testing.T, scenes []Scenes, run func(code string, o *codeinterp.RunOptions) (codeinterp.Result, error)) {
	t.Helper()
	for _, scene := range scenes {
		for i, s := range scene.Stages {
			res, err := run(s.Code, &codeinterp.RunOptions{Functions: Functions(t), Timeout: 5 * time.Minute})
			late, answered := lateLines(res), 0
			for _, c := range res.Calls {
				if c.Error == "" {
					answered++
				}
			}
			if err != nil || !res.OK() || res.Stdout() != s.Stdout || !slices.Equal(late, s.Late) || answered != s.Calls {
				t.Errorf("%s, run %d: %s, %v, %v, %d calls, late %q\n%s", scene.Name, i+1, res.Status, res.Error, err, answered, late, res.Stdout())
			}
		}
	}
}

// lateLines are the lines that were printed late, sorted.
func lateLines(res codeinterp.Result) (lines []string) {
	for _, o := range res.Outputs {
		if o.Late {
			lines = append(lines, strings.Split(strings.TrimSuffix(o.Text(), "\n"), "\n")...)
		}
	}
	slices.Sort(lines)
	return lines
}
