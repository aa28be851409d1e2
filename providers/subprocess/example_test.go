//go:build real && unix

package subprocess_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

func Example() {
	ci, err := subprocess.NewStateful(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	ctx := context.Background()
	id, err := ci.CreateContext(ctx, "python", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, code := range []string{"x = 20", "print('computing')\nx + 1", "x / 0"} {
		res, err := ci.RunInContext(ctx, id, code, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %q %q %v\n", res.Status, res.Stdout(), res.Text(), res.Error != nil)
	}
	// Output:
	// ok "" "" false
	// ok "computing\n" "21" false
	// error "" "" true
}

// A language that the package does not know takes a table entry: here Perl, in
// a process of its own for each program.
func ExampleLanguage() {
	perl := subprocess.Language{
		Name: "perl", Aliases: []string{"pl"}, Commands: []string{"perl"}, Args: []string{subprocess.FileArg}, Extension: ".pl",
		VersionArgs: []string{"-e", "print $^V"}, MinVersion: "5.10",
	}
	ci, err := subprocess.New(&subprocess.Options{Languages: []subprocess.Language{perl, subprocess.Bash()}})
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	fmt.Println(ci.Languages())
	res, err := ci.RunCode(context.Background(), "pl", `print "hello, ", scalar <STDIN>; exit 3`, &codeinterp.RunOptions{Stdin: []byte("world")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Status, res.ExitCode, res.Stdout())
	// Output:
	// [bash perl]
	// error 3 hello, world
}

// Processes that are ready make runs start faster. Each is used once.
func ExampleWarm() {
	ci, err := subprocess.New(&subprocess.Options{
		Languages: []subprocess.Language{subprocess.Python()},
		Warm:      &subprocess.Warm{Preload: []string{"json", "statistics"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer ci.Close()
	res, err := ci.RunCode(context.Background(), "python", "import statistics\nstatistics.mean([1, 2, 6])", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	// Output: 3
}
