package quickjs

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/memfs"
)

type freeBudget struct{}

func (freeBudget) Take(int64) bool { return true }
func (freeBudget) Give(int64)      {}

type printHost struct{ t *testing.T }

func (h printHost) Write(k codeinterp.Kind, p []byte) { fmt.Printf("%v: %s", k, p) }
func (h printHost) Show(o codeinterp.Output)          { fmt.Printf("show %+v\n", o) }
func (h printHost) Idle(wait func())                  { wait() }
func (h printHost) Breathe()                          {}

func TestSmoke(t *testing.T) {
	e := New(nil)
	inst, err := e.New(engine.Config{Limits: e.Limits(), Budget: freeBudget{}, Files: memfs.New(nil), Cwd: "."})
	if err != nil {
		t.Fatal(err)
	}
	list := []string{"1+1", "const x = 5; x*2", "const x = 6; function f(){return x}", "let x = 7; f()", "var x = 8; f()", "class x{}; f()",
		"await 1; const y = await Promise.resolve(41); y+1", "const y = 3; y", "console.log('hi', 1, {a:1,b:[1,2,{c:{d:{e:1}}}]}, [1,,3], new Map([[1,{a:2}]]), new Set(['x']), ()=>1, class A{}, new Error('boom').message)",
		"({a:[1,{b:2}], s:'x'})", "{a:1}", "throw new RangeError('bad')", "function g(){\n null.x }\ng()", "let = = ;", "setTimeout(()=>console.log('late'),20); 'main'", "Promise.reject(new TypeError('no'))",
		"process.exit(3)", "x", "new URL('http://a.b/c?d=1#e').searchParams.get('d')", "require('fs').writeFileSync('a.txt','hello'); require('fs').readdirSync('.')",
		"import fs, {readFileSync as r} from 'node:fs';\nconst s = r('a.txt','utf8'); s + fs.existsSync('b')", "require('nope')", "import z from 'nope'", "await import('path')",
		"display('text/html','<b>x</b>')", "console.table([{a:1,b:2},{a:3,b:4}])", "function r(n){return r(n+1)+1}; r(0)", "Buffer.from('hi').toString('base64')", "new Error('q')", "crypto.randomUUID().length",
		"structuredClone(new Map([[1,{a:new Date(0)}]]))", "process.env.FOO", "const a=[]; for(;;) a.push(new Array(1000).fill(a.length))", "1+1", "let q = 1; throw 1; const w = 4", "q", "const w = 3; w", "typeof JSON.parse('[]')",
	}
	if s := os.Getenv("JS"); s != "" {
		list = []string{s}
	}
	for i, code := range list {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		start := time.Now()
		out := inst.Run(ctx, engine.Program{Name: fmt.Sprintf("cell-%d.js", i+1), Code: code, Env: map[string]string{"FOO": "bar"}}, printHost{t})
		cancel()
		fmt.Printf(">>> %s\n  %v exit=%d stopped=%v lost=%v cause=%v", code, time.Since(start).Round(time.Microsecond), out.ExitCode, out.Stopped, out.Lost, out.Cause)
		if out.Value != nil {
			fmt.Printf(" value=%s text=%s", out.Value.Value, out.Value.Text())
		}
		if out.Error != nil {
			fmt.Printf(" err=%v line=%d missing=%q tb=%q", out.Error, out.Error.Line, out.Error.MissingModule, out.Error.Traceback)
		}
		fmt.Println()
	}
	inst.Close()
}
