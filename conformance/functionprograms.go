package conformance

import (
	"fmt"
	"strings"
)

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
