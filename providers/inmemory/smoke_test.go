package inmemory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

func TestSmoke(t *testing.T) {
	js := quickjs.New(nil)
	s, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	id, err := s.CreateContext(ctx, "ts", nil)
	fmt.Println(id, err)
	for _, code := range []string{"interface P { x: number }\nconst p: P = {x: 3};\np.x as number", "enum C { Red = 5 }\nC.Red", "C.Red + p.x", "type A = string;\n\n\nfunction f(a: A): void {\n  (null as any).foo }\nf('')", "let x: = ;",
		"import { readFileSync } from 'fs';\nimport type { X } from './x';", "typeof readFileSync", "for(;;){}", "p", "Array.prototype.indexOf.call({length:2**53-1},1)", "typeof p", "{a: 1}", "{ let z = 1; z }"} {
		start := time.Now()
		res, err := s.RunInContext(ctx, id, code, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
		fmt.Printf(">>> %s\n   %v %v %d %q err=%v %v lost=%v", code, time.Since(start), res.Status, res.ExitCode, res.Text(), err, res.Error, res.StateLost)
		if res.Error != nil {
			fmt.Printf(" %d %q", res.Error.Line, res.Error.Traceback)
		}
		fmt.Println()
	}
}
