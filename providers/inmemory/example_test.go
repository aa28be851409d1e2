package inmemory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/inmemory"
	"github.com/toolcell/toolcell/providers/inmemory/engine"
	"github.com/toolcell/toolcell/providers/inmemory/quickjs"
	"github.com/toolcell/toolcell/providers/inmemory/typescript"
)

func ExampleNew() {
	ci, err := inmemory.New(nil)
	if err != nil {
		panic(err)
	}
	defer ci.Close()
	res, err := ci.RunCode(context.Background(), "javascript", `
		console.log("working");
		[1, 2, 3].map((x) => x * x)`, nil)
	if err != nil {
		panic(err)
	}
	v, _ := res.Value()
	fmt.Printf("%s%s\n%s\n", res.Stdout(), res.Text(), v.Value)
	// Output:
	// working
	// [ 1, 4, 9 ]
	// [1,4,9]
}

func ExampleNewStateful() {
	js := quickjs.New(nil)
	ci, err := inmemory.NewStateful(&inmemory.Options{Engines: []engine.Engine{js, typescript.New(js)}})
	if err != nil {
		panic(err)
	}
	defer ci.Close()
	ctx := context.Background()
	id, err := ci.CreateContext(ctx, "typescript", nil)
	if err != nil {
		panic(err)
	}
	for _, code := range []string{
		"interface Point { x: number; y: number }\nconst p: Point = { x: 3, y: 4 }",
		"Math.hypot(p.x, p.y)",
		"(null as any).length",
	} {
		res, err := ci.RunInContext(ctx, id, code, &codeinterp.RunOptions{Timeout: time.Second})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%v %q\n", res.Status, res.Text())
		if res.Error != nil {
			fmt.Println(res.Error, "in line", res.Error.Line)
		}
	}
	// Output:
	// ok ""
	// ok "5"
	// error ""
	// TypeError: cannot read property 'length' of null in line 1
}
