package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// javascript returns the programs for node behind a REPL driver and for
// embedded engines. Beside the language they use console, process.exit, env,
// cwd, stdout.write and stderr.write, setTimeout, top-level await,
// display(mime, data), and, for standard input and files, require("fs").
func javascript() Programs {
	return Programs{
		Print:    func(s string) string { return fmt.Sprintf("void process.stdout.write(%s);", literal(s)) },
		PrintErr: func(s string) string { return fmt.Sprintf("void process.stderr.write(%s);", literal(s)) },
		Pause: func(d time.Duration) string {
			return fmt.Sprintf("await new Promise((resolve) => void setTimeout(resolve, %d));", d.Milliseconds())
		},
		Comment: "// nothing",

		Spin:     "for (;;) {}",
		Stubborn: "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }",
		Flood:    `for (;;) { console.log("tick"); }`,
		Recurse:  lines("function recurse(n) { return recurse(n + 1) + 1; }", "recurse(0);"),

		Exit:        func(code int) string { return fmt.Sprintf("process.exit(%d);", code) },
		HardExit:    func(code int) string { return fmt.Sprintf("process.reallyExit(%d);", code) },
		Fail:        func(msg string) string { return fmt.Sprintf("throw new RangeError(%s);", literal(msg)) },
		FailName:    "RangeError",
		FailLong:    func(n int) string { return fmt.Sprintf(`throw new RangeError("x".repeat(%d));`, n) },
		SyntaxError: "let = = ;",
		Raises: []Raise{
			{`await Promise.reject(new RangeError("awaited"))`, "RangeError", "awaited"},
			{`Promise.reject(new RangeError("last"))`, "RangeError", "last"},
			{"throw 5", "Uncaught", "5"},
			{`throw "text"`, "Uncaught", "'text'"},
			{"throw { a: [1] }", "Uncaught", "{ a: [ 1 ] }"},
			{"throw undefined", "Uncaught", "undefined"},
		},
		Strict: []Raise{
			{Code: "export const q = 1; undeclaredName = 1;", Name: "ReferenceError"},
			{Code: "export const q = Object.freeze({ a: 1 }); q.a = 2;", Name: "TypeError"},
		},
		MissingModule: func(name string) string { return fmt.Sprintf("void require(%s);", literal(name)) },

		Repeat: func(stream codeinterp.Kind, s string, n int) string {
			return fmt.Sprintf("void process.%s.write(%s.repeat(%d));", stream, literal(s), n)
		},
		Lines: func(n int) string {
			return lines(fmt.Sprintf("for (let i = 0; i < %d; i += 1000) {", n),
				`  let s = "";`,
				fmt.Sprintf(`  for (let j = i; j < Math.min(i + 1000, %d); j++) s += String(j).padStart(7, "0") + "\n";`, n),
				"  void process.stdout.write(s);", "}")
		},
		Bytes: "void process.stdout.write(Uint8Array.from({ length: 256 }, (_, i) => i));",

		Set:     func(name, value string) string { return fmt.Sprintf("var %s = %s;", name, literal(value)) },
		Get:     func(name string) string { return fmt.Sprintf("console.log(%s);", name) },
		Partial: func(start string) string { return "ü = [" + start },
		Has: func(name string) string {
			return fmt.Sprintf(`console.log(typeof %s === "undefined" ? "no" : "yes");`, name)
		},

		Values: []Expression{
			{"1 + 1", "2", "2"},
			{`""`, `""`, ""},
			{`[1, 2.5, null, true, "é"]`, `[1,2.5,null,true,"é"]`, ""},
			{"0", "0", "0"},
			{"null", "null", "null"},
			{"NaN", "", "NaN"},
			{"new Set([1])", "", ""},
			{"var o = {}; o.o = o; o", "", ""},
			{"({ b: 1, a: 2 })", `{"b":1,"a":2}`, ""},
			{"[undefined]", "", ""},
			{"({ a: undefined })", "", ""},
			{"new Date(0)", "", ""},
			{"10n", "", "10n"},
			{"-0", "", "-0"},
			{"[, 1]", "", ""},
			{"new (class Point { x = 1; })()", "", ""},
			{"Object.create(null)", "", ""},
			{"({ get a() { return 1; } })", `{"a":1}`, ""},
			{"new Proxy({ a: 1 }, {})", `{"a":1}`, ""},
			{"Array(2 ** 31)", "", ""},
			{"Promise.resolve([7])", "[7]", ""},
			{"({ ...'abc' })", `{"0":"a","1":"b","2":"c"}`, ""},
			{"var all = []; for (let i = 0; i < 3; i++) { if (i === 1) continue; all.push(() => i); }\nall.map((f) => f())", "[0,2]", ""},
			{"const v = 41;\nv + 1", "42", "42"},
			{"await Promise.resolve(7)", "7", "7"},
		},
		Text:    literal,
		Number:  strconv.Itoa,
		NoValue: []string{"undefined", "Promise.resolve()", "const k = 1;", "void 0;", ""},

		Show: javascriptShow,

		ReadAll: `console.log("[" + require("fs").readFileSync(0, "utf8") + "]");`,
		GetEnv: func(name string) string {
			return fmt.Sprintf(`console.log(process.env[%s] ?? "<unset>");`, literal(name))
		},
		Getwd: "console.log(process.cwd());",

		WriteFile: func(path, text string) string {
			return fmt.Sprintf(`void require("fs").writeFileSync(%s, %s);`, literal(path), literal(text))
		},
		ReadFile: func(path string) string {
			return fmt.Sprintf(`void process.stdout.write(require("fs").readFileSync(%s, "utf8"));`, literal(path))
		},

		AppendForever: func(path string) string {
			return lines("for (;;) {", fmt.Sprintf(`  require("fs").appendFileSync(%s, ".");`, literal(path)),
				"  await new Promise((resolve) => void setTimeout(resolve, 10));", "}")
		},

		Connect: func(port int) string {
			return lines("await new Promise((resolve) => {",
				fmt.Sprintf(`  const socket = require("net").connect(%d, "127.0.0.1");`, port),
				`  socket.on("error", () => void resolve(0));`,
				`  socket.on("connect", () => { socket.destroy(); resolve(0); });`, "});")
		},
		Kill: func(pid int) string { return fmt.Sprintf(`void process.kill(%d, "SIGKILL");`, pid) },

		KillSelf: lines(`process.kill(process.pid, "SIGKILL");`, "await new Promise((resolve) => void setTimeout(resolve, 60000));"),
		Child: func(seconds string) string {
			return fmt.Sprintf(`void require("child_process").spawn("sleep", [%q], { stdio: "inherit" }).unref();`, seconds)
		},
		Awaited: func(text string, after time.Duration) string {
			return fmt.Sprintf("void setTimeout(() => void process.stdout.write(%s), %d);", literal(text), after.Milliseconds())
		},

		Unending: func(text string) string {
			return fmt.Sprintf("(function on() { void process.stdout.write(%s); setImmediate(on); })();", literal(text))
		},
		Late: func(text string, after time.Duration) string {
			return fmt.Sprintf(`void require("child_process").spawn("sh", ["-c", 'sleep "$1"; printf %%s "$2"', "sh", "%.3f", %s], { stdio: "inherit" }).unref();`, after.Seconds(), literal(text))
		},
	}
}

// javascriptShow shows a bundle by display(bundle).
func javascriptShow(bundle []codeinterp.Representation) string {
	var list []string
	for _, rep := range bundle {
		data := literal(string(rep.Data))
		switch {
		case codeinterp.IsJSON(rep.MIME):
			data = string(rep.Data)
		case !codeinterp.IsText(rep.MIME):
			data = "new Uint8Array([" + byteList(string(rep.Data)) + "])"
		}
		list = append(list, literal(rep.MIME)+": "+data)
	}
	return "void display({ " + strings.Join(list, ", ") + " });"
}

// typescript returns the JavaScript programs with types put in.
func typescript() Programs {
	p := javascript()
	p.Set = func(name, value string) string { return fmt.Sprintf("var %s: string = %s;", name, literal(value)) }
	p.SyntaxError = "let x: = ;"
	p.Values = append(p.Values,
		Expression{"interface Point { x: number }\nconst p: Point = { x: 3 };\np.x as number", "3", "3"},
		Expression{"enum Color { Red = 5 }\nColor.Red", "5", "5"})
	return p
}

func byteList(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%d, ", s[i])
	}
	return strings.TrimSuffix(b.String(), ", ")
}
