package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// Programs holds small programs in one language, each of which does one known
// thing and nothing else: no value as its last expression unless it says so.
// The suite joins programs with newlines to build longer ones. A field stays
// empty where the language has no notion of it.
type Programs struct {
	// Print writes text to standard output, and PrintErr to standard error,
	// exactly and at once. Always present.
	Print, PrintErr func(text string) string
	// Pause waits, and can be interrupted. Always present.
	Pause func(time.Duration) string
	// Comment is a program of nothing but a comment.
	Comment string

	// Spin loops for ever without a pause, and does not resist interrupts.
	Spin string
	// Yielding waits, and ends normally when it is interrupted.
	Yielding string
	// Stubborn runs for ever and resists interrupts as well as it can.
	Stubborn string
	// Flood prints "tick" lines for ever, without a pause.
	Flood string
	// Recurse calls itself without an end.
	Recurse string

	// Exit ends the program with an exit code.
	Exit func(code int) string
	// HardExit ends the process at once with an exit code, past everything
	// that the language does at a program's end.
	HardExit func(code int) string
	// Fail raises an uncaught error with a message; its name is FailName.
	Fail     func(message string) string
	FailName string
	// FailLong raises the same error with a message of n times the letter x.
	FailLong func(n int) string
	// SyntaxError is no program.
	SyntaxError string
	// Raises are programs that fail, each in its own way.
	Raises []Raise
	// Strict are modules that fail, each because modules are strict; their Message
	// is not compared.
	Strict []Raise
	// MissingModule imports a module that does not exist.
	MissingModule func(name string) string

	// Repeat writes text that many times over, to standard output or standard error,
	// in one write where the language can.
	Repeat func(stream codeinterp.Kind, text string, times int) string
	// Lines writes n lines of 8 bytes: 0000000, 0000001, ...
	Lines func(n int) string
	// Bytes writes the bytes 0 to 255 to standard output.
	Bytes string

	// Set assigns to a global variable, Get prints it with a newline, and Has
	// prints "yes" or "no" with a newline.
	Set      func(name, value string) string
	Get, Has func(name string) string
	// Partial is code that ends with the beginning of a variable's name.
	Partial func(start string) string

	// Values are expressions.
	Values []Expression
	// Text is an expression whose value is the text.
	Text func(text string) string
	// Number is an expression whose value, in text and in JSON, is n.
	Number func(n int) string
	// NoValue are programs whose last statement or expression has no value.
	NoValue []string

	// Show shows one bundle, with its representations in the order given.
	// There is always a text/plain.
	Show func(bundle []codeinterp.Representation) string
	// DisplayUpdate shows the text "one" with an id, then replaces it by
	// "two".
	DisplayUpdate string

	// ReadAll prints all of standard input in brackets and a newline, and
	// ReadLine its first line in the same way. Both raise an error where there
	// is no standard input to read.
	ReadAll, ReadLine string
	// GetEnv prints an environment variable or "<unset>", and a newline.
	GetEnv func(name string) string
	// Getwd prints the working directory and a newline.
	Getwd string

	// WriteFile and ReadFile write text to a file and print it. AppendForever
	// appends a byte to a file about every 10 ms.
	WriteFile     func(path, text string) string
	ReadFile      func(path string) string
	AppendForever func(path string) string

	// Connect makes a connection to a TCP port of 127.0.0.1, and Kill sends
	// SIGKILL to a process. Where that fails, the program ends as it likes.
	Connect, Kill func(number int) string

	// KillSelf kills the process that runs the program with SIGKILL.
	KillSelf string
	// Child starts "sleep <seconds>" in the background and goes on.
	Child func(seconds string) string
	// Awaited starts something in the background that prints text after the
	// given time, and that a program waits for at its end.
	Awaited func(text string, after time.Duration) string

	// Unending starts something in the background that prints text for ever without
	// a pause, and that the program's end ends where that is an error.
	Unending func(text string) string
	// Call calls a function of the host with arguments in JSON and prints its
	// result as JSON and a newline. CallCaught prints "caught ", the error that
	// the call raises, with the function's name and the message, and a newline.
	Call, CallCaught func(name, args string) string
	// CallLoop calls a function n times, one after the other, with {"i": 0},
	// {"i": 1} and so on, and prints the sum of the results and a newline.
	CallLoop func(name string, n int) string

	// CallLeft leaves behind what calls a function after the program's end, once
	// a later program of the context is CallWake, which prints "called" if it got
	// an answer, else "refused", and a newline. Where nothing can outlive the end,
	// it is the timer of a program that exits before.
	CallLeft func(name, args string) string
	CallWake string

	// Late prints text after the given time, and lets the program end before.
	Late func(text string, after time.Duration) string
}

// An Expression is a program that is one expression.
type Expression struct {
	Code string
	// JSON is the value's JSON form, empty where it has no faithful one.
	JSON string
	// Text is its text/plain form, not compared where empty.
	Text string
}

// A Raise is a program that fails, and the error that it is to have.
type Raise struct{ Code, Name, Message string }

// SplitText has characters of one to four bytes.
const SplitText = "aé日🙂b\n"

// PNG returns the image that the display programs show: one red pixel.
func PNG() []byte {
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.Bytes()
}

// ProgramsFor returns the suite's own programs for a language, to change a few
// of them.
func ProgramsFor(language string) (Programs, bool) {
	p, ok := programs()[language]
	return p, ok
}

func programs() map[string]Programs {
	py, js, ts, sh := python(), javascript(), typescript(), bash()
	pythonCalls(&py)
	javascriptCalls(&js)
	javascriptCalls(&ts)
	bashCalls(&sh)
	return map[string]Programs{"python": py, "javascript": js, "typescript": ts, "bash": sh}
}

// literal quotes text as a JSON string, which Python and JavaScript read too.
func literal(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always marshal
	}
	return strings.ReplaceAll(string(b), "\u0085", `\u0085`) // which ends a line of Python source
}

// lines joins programs.
func lines(programs ...string) string {
	var b bytes.Buffer
	for _, p := range programs {
		b.WriteString(p)
		b.WriteByte('\n')
	}
	return b.String()
}

func pythonCalls(p *Programs) {
	dump := func(v string) string { return "json.dumps(" + v + ", separators=(',', ':'), ensure_ascii=False)" }
	call := func(name, args string) string { return fmt.Sprintf("tools.%s(**json.loads(%s))", name, literal(args)) }
	p.Call = func(name, args string) string { return lines("import json", "print("+dump(call(name, args))+")") }
	p.CallCaught = func(name, args string) string {
		return lines("import json", "try:", "    "+call(name, args), "except Exception as e:", "    print('caught', type(e).__name__, e)")
	}
	p.CallLoop = func(name string, n int) string {
		return fmt.Sprintf("print(sum(tools.%s(i=i) for i in range(%d)))", name, n)
	}
	p.CallLeft = func(name, args string) string {
		return lines("import json, threading", "wake, seen = threading.Event(), []", "def left():", "    wake.wait()", "    try:",
			"        "+call(name, args), "        seen.append('called')", "    except Exception as e:", "        seen.append('refused')",
			"thread = threading.Thread(target=left, daemon=True)", "thread.start()")
	}
	p.CallWake = lines("wake.set()", "thread.join()", "print(*seen)")
}

func javascriptCalls(p *Programs) {
	call := func(name, args string) string { return fmt.Sprintf("tools.%s(JSON.parse(%s))", name, literal(args)) }
	p.Call = func(name, args string) string { return "console.log(JSON.stringify(await " + call(name, args) + "));" }
	p.CallCaught = func(name, args string) string {
		return "try { await " + call(name, args) + `; } catch (e) { console.log("caught", e.name, e.message); }`
	}
	p.CallLoop = func(name string, n int) string {
		return lines("{", "  let sum = 0;", fmt.Sprintf("  for (let i = 0; i < %d; i++) sum += await tools.%s({ i });", n, name), "  console.log(sum);", "}")
	}
	p.CallLeft = func(name, args string) string {
		return "setTimeout(() => " + call(name, args) + ", 0); process.exit(0);"
	}
	p.CallWake = `await new Promise((resolve) => setTimeout(resolve, 20)); console.log("refused");`
}

func bashCalls(p *Programs) {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	call := func(name, args string) string { return "tool " + name + " " + quoted(args) }
	p.Call = func(name, args string) string { return `printf '%s\n' "$(` + call(name, args) + `)"` }
	p.CallCaught = func(name, args string) string {
		return "if out=$(" + call(name, args) + ` 2>&1); then :; else printf 'caught %s\n' "$out"; fi`
	}
	p.CallLeft = func(name, args string) string {
		return "coproc LEFT { read -r; " + call(name, args) + " >/dev/null 2>&1 && echo called || echo refused; }"
	}
	p.CallWake = `echo >&"${LEFT[1]}"; IFS= read -r line <&"${LEFT[0]}"; printf '%s\n' "$line"`
	p.CallLoop = func(name string, n int) string {
		return fmt.Sprintf(`sum=0; for ((i = 0; i < %d; i++)); do sum=$((sum + $(tool %s "{\"i\":$i}"))); done; echo $sum`, n, name)
	}
}
