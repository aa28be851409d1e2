package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/tier"
)

// write writes a file of servers.
func write(t *testing.T, dir, config string) string {
	t.Helper()
	file := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// self is this binary as the command, in JSON.
func self() string {
	raw, _ := json.Marshal(os.Args[0])
	return string(raw)
}

const token = "s3cr3t-of-the-server"

// ours is a configuration whose server is this command.
func ours(more string) string {
	return `{"mcpServers": {"cell": {"command": ` + self() + `, "args": ["mcp", "--stateless"], "env": {"` + asToolcell + `": "1", "API_TOKEN": "` + token + `"}` + more + `}}}`
}

// TestGateway: one tool in place of those of a server, which is another gateway's.
func TestGateway(t *testing.T) {
	c, hangUp := serveMCP(t, "--tools", write(t, t.TempDir(), ours(`, "tools": {"run_code": {"use": "both"}}`)))
	if got := toolNames(t, c); got != "cell_run_code run_code" {
		t.Errorf("tools: %s", got)
	}
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := list.Tools[1].Description; !strings.Contains(d, "cell_run_code(args: {") || !strings.Contains(d, "language: ") {
		t.Error(d)
	}
	text, _ := callTool(t, c, "run_code", "language", "typescript", "code", `
		const all = await Promise.all([1, 2, 3].map((n: number) => tools.cell_run_code({language: "javascript", code: n + " * 7"})));
		console.log(all.map((r) => r.outputs[0].value).join());
		console.log((await tools.cell_run_code({language: "cobol", code: ""}).catch((e) => e.name)));`)
	if !strings.Contains(text, "7,14,21\n") || !strings.Contains(text, "ToolError") {
		t.Error(text)
	}
	if text, _ := callTool(t, c, "cell_run_code", "language", "javascript", "code", "6 * 7"); !strings.Contains(text, "42") {
		t.Error(text)
	}
	if code := hangUp(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestGatewayUsage(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		config string
		flags  []string
		stderr string
	}{
		{`{}`, nil, "no server"},
		{`{"mcpServers": {"a": {}}}`, nil, "either a command or a url"},
		{ours(""), []string{"--manage"}, "--manage"},
		{ours(""), []string{"--languages", "javascript,typescript"}, "one language"},
		{ours(`, "tools": {"x": {"use": "often"}}`), nil, "often"},
	} {
		code, stdout, stderr := toolcell(t.Context(), "", append([]string{"mcp", "--tools", write(t, dir, tt.config)}, tt.flags...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, tt.stderr) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s %q: code %d, stdout %q, stderr %q", tt.config, tt.flags, code, stdout, stderr)
		}
	}
	if code, _, stderr := toolcell(t.Context(), "", "mcp", "--tools", filepath.Join(dir, "none")); code != 2 || !strings.Contains(stderr, "--tools") {
		t.Errorf("code %d: %s", code, stderr)
	}
}

// TestGatewayKeepsCredentials: no program reads the token of a server, wherever it
// looks for it.
func TestGatewayKeepsCredentials(t *testing.T) {
	for _, p := range []struct{ provider, language, code string }{
		{"inmemory", "javascript", `
			const out = [JSON.stringify(process.env)];
			for (const f of ["FILE", "/proc/self/environ"]) try { out.push(require("fs").readFileSync(f, "utf8")) } catch (e) { out.push("no " + e.code) }
			for (const k of Object.keys(tools)) out.push(k);
			out.push("looked"); [...out.join("\n")].join("-")`},
		{"subprocess", "python", `
import glob, os
out = [repr(dict(os.environ))]
for f in ["FILE"] + glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        out.append(open(f, errors="replace").read())
    except OSError as e:
        out.append("no " + str(e.errno))
out.append("looked")
print("-".join("\n".join(out)))`},
	} {
		t.Run(p.provider, func(t *testing.T) {
			if p.provider == "subprocess" && !tier.Real {
				t.Skip("tag real")
			}
			dir := t.TempDir()
			file := write(t, dir, ours(""))
			if err := os.Chmod(file, 0o600); err != nil {
				t.Fatal(err)
			}
			c, hangUp := serveMCP(t, "--provider", p.provider, "--languages", p.language, "--tools", file)
			text, _ := callTool(t, c, "run_code", "language", p.language, "code", strings.ReplaceAll(p.code, "FILE", file))
			plain := strings.Join(strings.Split(text, "-"), "")
			if spelled := strings.ReplaceAll(token, "-", ""); !strings.Contains(plain, "looked") || strings.Contains(plain, spelled) {
				t.Errorf("%s", plain)
			}
			hangUp()
		})
	}
}
