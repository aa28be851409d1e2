// Package loopstest has Python programs that interrupt themselves where asyncio is at
// work, as a host's signal does by chance. Whatever the provider, they end by
// KeyboardInterrupt, with their finally, and leave the state.
package loopstest

import (
	"fmt"
	"strings"
)

// Set defines upon(name, n): at its nth call from then on, what the running loop has by
// that name sends the signal, from a frame of the file that is asyncio's own. During the
// operation -long one comes, which is seen where it has ended.
const Set = `import _thread, asyncio, os, signal, threading, time
_upon = '''def upon(name, left=40):
    loop = events._get_running_loop()
    plain = getattr(loop, name)
    def called(*args, **kw):
        nonlocal left
        left -= 1
        if left == 0:
            delattr(loop, name)
            kill(getpid(), SIGINT)
        return plain(*args, **kw)
    setattr(loop, name, called)
'''
exec(compile(_upon, asyncio.base_events.__file__, 'exec'), {'events': asyncio.events, 'kill': os.kill, 'getpid': os.getpid, 'SIGINT': signal.SIGINT}, globals())
async def spins():
    try:
        while True: await asyncio.sleep(0)
    finally: print('fin')
async def puts(q):
    while True: await q.put(1)
async def gets(q):
    while True: await q.get()
async def passes_on():
    q = asyncio.Queue(1)
    try: await asyncio.gather(puts(q), gets(q))
    finally: print('fin')
async def starts(name):
    upon(name); await spins()
async def stops(f, *args):
    loop = asyncio.get_running_loop()
    signaler = threading.Thread(target=lambda: (time.sleep(.1), os.kill(os.getpid(), signal.SIGINT)))
    try:
        loop.call_soon(signaler.start)
        await asyncio.sleep(0)
        if f: loop.call_soon(f, *args)
        await asyncio.sleep(300)
    finally:
        print('fin'); signaler.join()
async def asks():
    loop = asyncio.get_running_loop()
    upon('get_debug'); await asyncio.sleep(0)
    try:
        n = 0
        while True: n += 1; loop.get_debug()
    finally: print('fin')
class Long:
    __neg__ = staticmethod(_thread.interrupt_main)
long = Long()
def computes():
    global n
    n = 0
    while True: n += 1; -long
async def awaited():
    global n
    n = 0
    while True: n += 1; -long
async def computes_in_try():
    n = 0
    try:
        while True: n += 1; -long
    finally: print('fin' if n == 1 else n)
async def catches():
    n = 0
    while True:
        try:
            while True: n += 1; -long
        except KeyboardInterrupt:
            print('fin' if n == 1 else n); raise
`

// Programs are such programs, by what they do.
func Programs() map[string]string {
	programs := map[string]string{
		"a loop that waits":     "await stops(None)",
		"a callback that waits": "await stops(time.sleep, 300)",
		"and of the library's":  "await stops(threading.Event().wait, 300)",
		"asks, awaits nothing":  "await asks()",
		"an operation":          "try: computes()\nfinally: print('fin' if n == 1 else n)",
		"one of a task":         "try: await awaited()\nfinally: print('fin' if n == 1 else n)",
		"where a try begins":    "await computes_in_try()",
		"where a long one does": "async def computes_on():\n n = 0\n try:\n  while True: -long" + strings.Repeat("; n += 1", 120) + "\n finally: print('fin' if n == 120 else n)\nawait computes_on()",
		"where a handler does":  "await catches()",
	}
	for _, name := range []string{"call_soon", "_call_soon", "get_debug", "_check_closed", "_run_once", "_process_events"} {
		programs["spins, "+name] = fmt.Sprintf("await starts(%q)", name)
		programs["a queue, "+name] = fmt.Sprintf("upon(%q); await asyncio.sleep(0); await passes_on()", name)
		programs["its own loop, "+name] = fmt.Sprintf("asyncio.run(starts(%q))", name)
	}
	return programs
}
