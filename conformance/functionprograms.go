package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// compacted returns JSON without spaces between its parts.
func compacted(text []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return string(text)
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
	p.CallSize = func(name, args string) string { return lines("import json", "print(len("+dump(call(name, args))+"))") }
	p.CallLoop = func(name string, n int) string {
		return fmt.Sprintf("print(sum(tools.%s(i=i) for i in range(%d)))", name, n)
	}
	p.CallThread = func(name, args string) string {
		return lines("import json, threading", "told = []", "thread = threading.Thread(target=lambda: told.append("+call(name, args)+"))",
			"thread.start()", "thread.join()", "print("+dump("told[0]")+")")
	}
	p.CallLeft = func(name, args string) string {
		return lines("import json, threading", "wake, told = threading.Event(), []", "def left():", "    wake.wait()", "    try:",
			"        "+call(name, args), "        told.append('called')", "    except Exception as e:", "        told.append('refused')",
			"thread = threading.Thread(target=left, daemon=True)", "thread.start()")
	}
	p.CallWake = lines("wake.set()", "thread.join()", "print(*told)")
	p.CallTask = func(name, args string) string {
		return lines("import asyncio, json", "wake, told = asyncio.Event(), []", "async def left():", "    await wake.wait()", "    try:",
			fmt.Sprintf("        await tools.aio.%s(**json.loads(%s))", name, literal(args)), "        told.append('called')",
			"    except Exception as e:", "        told.append('refused')",
			"task = asyncio.create_task(left())", "await asyncio.sleep(0)")
	}
	p.CallTaskWake = lines("wake.set()", "await task", "print(*told)")
	p.CallAll = func(name string, args []string) string {
		return lines("import json, concurrent.futures", fmt.Sprintf("with concurrent.futures.ThreadPoolExecutor(%d) as pool:", len(args)),
			fmt.Sprintf("    for r in pool.map(lambda a: tools.%s(**json.loads(a)), [%s]):", name, literals(args)), "        print("+dump("r")+")")
	}
}

func javascriptCalls(p *Programs) {
	call := func(name, args string) string { return fmt.Sprintf("tools.%s(JSON.parse(%s))", name, literal(args)) }
	p.Call = func(name, args string) string { return "console.log(JSON.stringify(await " + call(name, args) + "));" }
	p.CallCaught = func(name, args string) string {
		return "try { await " + call(name, args) + `; } catch (e) { console.log("caught", e.name, e.message); }`
	}
	p.CallSize = func(name, args string) string {
		return "console.log(JSON.stringify(await " + call(name, args) + ").length);"
	}
	p.CallLoop = func(name string, n int) string {
		return lines("{", "  let sum = 0;", fmt.Sprintf("  for (let i = 0; i < %d; i++) sum += await tools.%s({ i });", n, name), "  console.log(sum);", "}")
	}
	p.CallThread = func(name, args string) string {
		return "await new Promise((resolve, reject) => setTimeout(() => " + call(name, args) +
			".then((r) => resolve(console.log(JSON.stringify(r))), reject), 1));"
	}
	p.CallLeft = func(name, args string) string {
		return "setTimeout(() => " + call(name, args) + ", 0); process.exit(0);"
	}
	p.CallWake = `await new Promise((resolve) => setTimeout(resolve, 20)); console.log("refused");`
	p.CallTask = func(name, args string) string {
		return "globalThis.left = { woken: new Promise((resolve) => { globalThis.wake = resolve; }) }; " +
			"left.done = left.woken.then(async () => { await null; return " + call(name, args) + "; }).then(() => 'called', () => 'refused'); 0;"
	}
	p.CallTaskWake = `wake(); console.log(await left.done);`
	p.CallAll = func(name string, args []string) string {
		return fmt.Sprintf("for (const r of await Promise.all([%s].map((a) => tools.%s(JSON.parse(a))))) console.log(JSON.stringify(r));", literals(args), name)
	}
}

func bashCalls(p *Programs) {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	call := func(name, args string) string { return "tool " + name + " " + quoted(args) }
	p.Call = func(name, args string) string { return `printf '%s\n' "$(` + call(name, args) + `)"` }
	p.CallCaught = func(name, args string) string {
		return "if out=$(" + call(name, args) + ` 2>&1); then :; else printf 'caught %s\n' "$out"; fi`
	}
	p.CallSize = func(name, args string) string { return `out=$(` + call(name, args) + `); echo "${#out}"; unset out` }
	p.CallAll = func(name string, args []string) string {
		code := []string{"fds=()"}
		for _, a := range args {
			code = append(code, "exec {fd}< <("+call(name, a)+`); fds+=("$fd")`)
		}
		return lines(append(code, `for fd in "${fds[@]}"; do while IFS= read -r line <&"$fd"; do printf '%s\n' "$line"; done; exec {fd}<&-; done`)...)
	}
	p.CallThread = func(name, args string) string { return `{ printf '%s\n' "$(` + call(name, args) + `)"; } & wait $!` }
	p.CallLeft = func(name, args string) string {
		return "coproc LEFT { read -r; " + call(name, args) + " >/dev/null 2>&1 && echo called || echo refused; }"
	}
	p.CallWake = `echo >&"${LEFT[1]}"; IFS= read -r line <&"${LEFT[0]}"; printf '%s\n' "$line"`
	p.CallLoop = func(name string, n int) string {
		return fmt.Sprintf(`sum=0; for ((i = 0; i < %d; i++)); do sum=$((sum + $(tool %s "{\"i\":$i}"))); done; echo $sum`, n, name)
	}
}

func literals(list []string) string {
	var all []string
	for _, s := range list {
		all = append(all, literal(s))
	}
	return strings.Join(all, ", ")
}
