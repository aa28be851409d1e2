package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An outside drives the command as strangers do, who know nothing of the library:
// it has attackers at one door of a server, and others, whose answers are known,
// beside them. The host has little memory and few files, and ordinary rights.
type outside struct {
	*small
	mode            string // memory, or a mode of isolation
	door            string // stdio or http
	language        string // that of the others
	flags           []string
	attacker, other *mcp.ClientSession
	state           string // a context of the other's
}

// TestOutside tries variants of every fault that the project had in what stands
// between programs and the host, in every mode and at every door. After each, the
// server answers others at once and right. Its long form is a part of make attack.
func TestOutside(t *testing.T) {
	whole := wholeAttack()
	for m, mode := range []string{"memory", "bwrap", "landlock", "none"} {
		if mode != "memory" && !works(t, "subprocess") {
			continue
		}
		for d, door := range []string{"stdio", "http"} {
			t.Run(mode+"/"+door, func(t *testing.T) {
				t.Parallel()
				o := openOutside(t, mode, door)
				for i, a := range outsiders {
					if whole || i%8 == 2*m+d {
						o.try(t, a)
					}
				}
				o.together(t)
				o.leaves(t)
				if n := o.status("VmHWM"); n > 512<<10 {
					t.Errorf("the server took %d KiB", n)
				}
			})
		}
	}
}

func wholeAttack() bool { return os.Getenv("TOOLCELL_ATTACK") != "" }

func openOutside(t *testing.T, mode, door string) *outside {
	o := &outside{mode: mode, door: door, language: "python", flags: []string{"--provider", "subprocess", "--isolation", mode}}
	if mode == "memory" {
		o.language, o.flags = "javascript", nil
	}
	args := append([]string{"--timeout", "2s", "--manage", "--max-contexts", "0"}, o.flags...)
	if door == "http" {
		o.small = startSmall(t, args...)
		o.attacker, o.other = o.client("secret"), o.client("secret")
	} else {
		o.small = prepareSmall(t)
		o.server = o.confined(append([]string{"mcp"}, args...)...)
		o.server.Stderr = o.said
		o.attacker = mcpClient(t, &mcp.CommandTransport{Command: o.server})
		o.other = o.attacker
	}
	o.state = o.create(t, o.other, o.language)
	o.ask(t, "run_in_code_context", "contextId", o.state, "code", "state = 'kept'")
	return o
}

func (o *outside) create(t *testing.T, c *mcp.ClientSession, language string) string {
	t.Helper()
	text := ""
	for range 20 { // the machine may be slow to take the attack's dead processes away
		said, made := callTool(t, c, "create_code_context", "language", language)
		if id, ok := made["contextId"].(string); ok {
			return id
		}
		text = said
		time.Sleep(time.Second)
	}
	t.Fatalf("no context of %s: %s", language, text)
	return ""
}

// ask is a call of the other's.
func (o *outside) ask(t *testing.T, tool string, pairs ...string) string {
	t.Helper()
	text, _ := callTool(t, o.other, tool, pairs...)
	return text
}

// try has one attack made, and looks at what became of the host and of others.
func (o *outside) try(t *testing.T, a outsider) {
	t.Helper()
	if embedded := a.language == "javascript" || a.language == "typescript"; o.mode == "memory" && (!embedded || a.process) ||
		o.mode != "memory" && a.embedded || o.mode == "none" && a.walled {
		return
	}
	text := o.attack(t, a)
	if strings.Contains(text, "REACHED") || a.wants != "" && !strings.Contains(text, a.wants) {
		t.Errorf("%s: %.600s", a.name, text)
	}
	o.lives(t, a.name)
	o.byCommand(a.name, a.language, o.code(a.steps[0]), o.flags...)
}

// code is a program that knows the threads of the host.
func (o *outside) code(step string) string {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", o.server.Process.Pid))
	var list strings.Builder
	for _, task := range tasks {
		list.WriteString(task.Name() + ",")
	}
	return strings.ReplaceAll(systemCalls.Replace(step), "@TASKS@", "["+list.String()+"]")
}

// attack runs the steps in a context and deletes it, and returns what the last
// one answered. Each comes back, whatever it does.
func (o *outside) attack(t *testing.T, a outsider) string {
	t.Helper()
	id := o.create(t, o.attacker, a.language)
	text := ""
	for _, step := range a.steps {
		text = o.within(t, a.name, "run_in_code_context", map[string]any{"contextId": id, "code": o.code(step)})
		t.Logf("%s: %.200q", a.name, text)
	}
	o.within(t, a.name, "delete_code_context", map[string]any{"contextId": id})
	return text
}

// within makes a call of the attacker's, which ends within a minute even on a
// machine that is busy: its timeout is two seconds.
func (o *outside) within(t *testing.T, name, tool string, args map[string]any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	res, err := o.attacker.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || len(res.Content) == 0 {
		t.Fatalf("%s: %s: %v\n%s", name, tool, err, o.said)
	}
	text, _ := res.Content[0].(*mcp.TextContent)
	if text == nil {
		return ""
	}
	return text.Text
}

// lives checks that others have right answers at once.
func (o *outside) lives(t *testing.T, after string) {
	t.Helper()
	took := time.Minute
	for try := 0; try < 5 && took > time.Second; try++ { // the machine may be busy elsewhere
		began := time.Now()
		if text := o.ask(t, "run_code", "language", o.language, "code", "1+1"); !strings.Contains(text, "\n2") {
			t.Errorf("after %s, 1+1 is %s", after, text)
		}
		took = time.Since(began)
	}
	if took > time.Second {
		t.Errorf("after %s, 1+1 took %v", after, took)
	}
	if text := o.ask(t, "run_in_code_context", "contextId", o.state, "code", "state"); !strings.Contains(text, "kept") {
		t.Errorf("after %s, the other's state is %s", after, text)
	}
}

// together has callers at once, each of whom gets the answer that is its own.
func (o *outside) together(t *testing.T) {
	t.Helper()
	rounds := 40 // processes
	if o.mode == "memory" {
		rounds = 1000
	}
	if !wholeAttack() {
		rounds /= 8
	}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for k := range rounds {
				want := fmt.Sprintf("private of %d-%d.", n, k)
				res, err := o.other.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": o.language, "code": "'" + want + "'"}})
				if err != nil {
					t.Error(err)
					return
				}
				if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, want) || strings.Count(text, "private") != 1 {
					t.Errorf("asked for %s, got %s", want, text)
				}
			}
		})
	}
	wg.Wait()
}

// leaves has a client go away as soon as its program prints, and checks that the
// program goes with it.
func (o *outside) leaves(t *testing.T) {
	if o.door != "http" {
		return
	}
	heard := map[any]chan struct{}{"1": nil, "2": nil, "3": nil, "4": nil, "5": nil} // by token
	for token := range heard {
		heard[token] = make(chan struct{}, 1)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			select {
			case heard[req.Params.ProgressToken] <- struct{}{}:
			default: // the client is not to stop reading
			}
		},
	}).Connect(t.Context(), o.transport("secret"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	code := map[string]string{"javascript": `for (;;) console.log("on")`, "python": "while True: print('on')"}[o.language]
	for token, printed := range heard {
		ctx, cancel := context.WithCancel(t.Context())
		params := &mcp.CallToolParams{Name: "run_code", Arguments: map[string]any{"language": o.language, "code": code}}
		params.SetProgressToken(token)
		go func() {
			select {
			case <-printed:
				cancel()
			case <-ctx.Done():
			}
		}()
		if _, err := c.CallTool(ctx, params); err == nil && ctx.Err() == nil {
			t.Error("a program without end ended by itself")
		}
		cancel()
		o.lives(t, "a client that left")
	}
}

// TestOutsideHome: an interpreter in the home opens nothing else of it, wherever
// below it lies and whatever the home is called.
func TestOutsideHome(t *testing.T) {
	if !works(t, "subprocess") {
		return
	}
	for _, mode := range []string{"bwrap", "landlock"} {
		for _, place := range []string{"bin", ".local/bin", ".local/share/py/bin", "."} {
			for _, named := range []string{"home", "link", "elsewhere", ""} {
				t.Run(mode+"/"+place+"/"+named, func(t *testing.T) {
					t.Parallel()
					homeStaysShut(t, mode, place, named)
				})
			}
		}
	}
}

func homeStaysShut(t *testing.T, mode, place, named string) {
	s := prepareSmall(t)
	top := filepath.Dir(s.exe)
	home := filepath.Join(top, "user")
	python := filepath.Join(home, place, "python3")
	secrets := []string{".ssh/id", "secret", ".local/secret", ".local/share/secret", "bin/secret"}
	for _, path := range append(secrets, filepath.Join(place, "python3")) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range secrets {
		if err := os.WriteFile(filepath.Join(home, path), []byte("HU"+"SH"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("/usr/bin/python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err := os.WriteFile(python, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(home, filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	code := "import os\nfor d, _, names in os.walk('" + home + "'):\n    for n in names:\n        try: print(open(os.path.join(d, n), 'rb').read(4))\n        except OSError: pass\n" +
		"for p in '" + strings.Join(secrets, " ") + "'.split():\n    try: print(open('" + home + "/' + p).read())\n    except OSError: pass\nprint('ran')"
	cmd := s.confined("run", "--provider", "subprocess", "--isolation", mode, "-e", code)
	env := append(cmd.Env[:0:0], asToolcell+"=1", "PATH="+filepath.Dir(python)+":/usr/bin:/bin")
	if named != "" {
		env = append(env, "HOME="+map[string]string{"home": home, "link": filepath.Join(top, "link"), "elsewhere": "/"}[named])
	}
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if text := string(out); err != nil || !strings.Contains(text, "ran") || strings.Contains(text, "HUSH") {
		t.Errorf("%v\n%.1000s", err, out)
	}
}
