package python

import (
	"embed"
	"strconv"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/internal/pydriver"
	"github.com/toolcell/toolcell/internal/pytools"
	"github.com/toolcell/toolcell/internal/pyvalue"
)

//go:embed drivers/*.py
var drivers embed.FS

func own(name string) string {
	b, err := drivers.ReadFile("drivers/" + name + ".py")
	if err != nil {
		panic(err)
	}
	return string(b)
}

// bootSource is the program that makes the interpreter a driver, in a namespace with a
// copy of builtins, so that what a program replaces there is not the driver's.
var bootSource = sync.OnceValue(func() []byte {
	driver := pydriver.Source("driver") + own("channel") + pydriver.Source("streams") + pytools.Source + pytools.Contexts +
		own("calls") + own("network") + pyvalue.Source + pydriver.Source("display", "imports", "errors", "run") + own("loop")
	var b strings.Builder
	b.WriteString("import builtins, marshal\n")
	b.WriteString("magics = marshal.dumps(compile(" + literal(pydriver.Source("magics")) + ", '<toolcell>', 'exec'))\n")
	b.WriteString("exec(compile(" + literal(driver) + ", '<toolcell>', 'exec'), {'__name__': 'toolcell', '__builtins__': dict(vars(builtins)), 'parts': {'names': (), 'magics': magics}})\n")
	return []byte(b.String())
})

// literal returns a string as Python writes it, which is as Go does for ASCII.
func literal(s string) string { return strconv.QuoteToASCII(s) }
