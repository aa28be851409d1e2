//go:build real && linux

package seeds

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/files"
	"github.com/toolcell/toolcell/workspace/local"
)

func Example_quickStart() {
	capsule, done := capsule(nil)
	defer done()
	result := must(capsule.Code().RunCode(context.Background(), "python", "print('hello')", nil))
	fmt.Print(result.Stdout())
	// Output: hello
}

func Example_statefulExecution() {
	capsule, done := capsule(nil)
	defer done()
	ctx := context.Background()
	code, _ := codeinterp.Stateful(capsule.Code())
	id := must(code.CreateContext(ctx, "python", nil))
	run := func(text string) *codeinterp.Result {
		result := must(code.RunInContext(ctx, id, text, nil))
		return &result
	}

	// Assign a variable.
	run("x = 42")
	fmt.Println(run("x * 2").Text())

	// Import a module.
	run("import math")
	fmt.Println(run("math.pi").Text())

	// Define a function.
	run("def greet(name): return f'hello {name}'")
	fmt.Println(run("greet('world')").Text())
	// Output:
	// 84
	// 3.141592653589793
	// 'hello world'
}

func Example_readingOutput() {
	capsule, done := capsule(nil)
	defer done()
	run := func(text string) *codeinterp.Result {
		result := must(capsule.Code().RunCode(context.Background(), "python", text, nil))
		return &result
	}

	// The value of the last expression.
	fmt.Println(run("1 + 1").Text())

	// What is printed.
	fmt.Print(run("print('from print')").Stdout())

	// Standard error.
	fmt.Print(run(`import sys; sys.stderr.write('warn\n'); None`).Stderr())
	// Output:
	// 2
	// from print
	// warn
}

func Example_templates() {
	file := filepath.Join(must(os.MkdirTemp("", "")), "mine.json")
	defer os.RemoveAll(filepath.Dir(file))
	check(os.WriteFile(file, []byte(`{"languages": ["python"], "env": {"MODE": "custom"}}`), 0o600))

	capsule, done := capsule(&local.Options{Template: file})
	defer done()
	result := must(capsule.Code().RunCode(context.Background(), "python", "import os; print('running on', os.environ['MODE'], 'template')", nil))
	fmt.Print(result.Stdout())
	// Output: running on custom template
}

func Example_filesBesideCode() {
	capsule, done := capsule(nil)
	defer done()
	ctx := context.Background()
	must(capsule.Code().RunCode(ctx, "python", `
import csv
with open('data.csv', 'w', newline='') as f:
    csv.writer(f, lineterminator='\n').writerows([['a'], [1], [2], [3]])
`, nil))

	// Read the file back with the files of the workspace.
	page := must(capsule.Files().Read(ctx, "data.csv", files.Range{}))
	fmt.Print(page.Text)
	// Output:
	// a
	// 1
	// 2
	// 3
}
