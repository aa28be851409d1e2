//go:build real && linux

package subprocess_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// descendants returns the processes below this one that run another program.
func descendants(t *testing.T) (list []int) {
	parents := map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var state string
		var parent int
		_, _ = fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &parent)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parents[pid] = parent
	}
	self, _ := os.Readlink("/proc/self/exe")
	for pid := range parents {
		p := pid
		for p != os.Getpid() && p > 0 {
			p = parents[p]
		}
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if p == os.Getpid() && pid != p && exe != self {
			list = append(list, pid)
		}
	}
	return list
}

// marker is what a program has made in its memory.
var marker = []byte("marker-of-the-program")

// searched looks for needles in what a process can read of itself, and returns how much
// that was, and whether it has seen marker, which is there.
func searched(t *testing.T, pid int, needles [][]byte) (n int, seen bool) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	look := func(where string, b []byte) {
		n += len(b)
		seen = seen || bytes.Contains(b, marker)
		for _, s := range needles {
			if bytes.Contains(b, s) {
				exe, _ := os.Readlink(dir + "exe")
				t.Errorf("%q is in %s of %s", s, where, exe)
			}
		}
	}
	for _, name := range []string{"environ", "cmdline"} {
		b, _ := os.ReadFile(dir + name)
		look(name, b)
	}
	maps, err := os.Open(dir + "maps")
	if err != nil {
		return n, seen
	}
	defer maps.Close()
	mem, err := os.Open(dir + "mem")
	if err != nil {
		return n, seen
	}
	defer mem.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var rights string
		_, _ = fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights)
		if !strings.HasPrefix(rights, "rw") || to-from > 256<<20 {
			continue // what cannot be written holds nothing that was received
		}
		b := make([]byte, to-from)
		k, _ := mem.ReadAt(b, from)
		look("memory", b[:max(k, 0)])
	}
	return n, seen
}

// The credential is in no environment, argument, file or memory of the processes of a
// program that has used it, and in no output or event, also when the server sends it back in
// headers, in pieces, or encoded. docs/network.md
func TestNetworkSecret(t *testing.T) {
	core := attackSecret[len(attackSecret)-16:]
	needles := [][]byte{[]byte(core), []byte(core[:8]), []byte(core[8:]), []byte(base64.StdEncoding.EncodeToString([]byte("Bearer " + attackSecret)))[12:], []byte(hex.EncodeToString([]byte(core)))}
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			h := newHostile(t)
			temp := t.TempDir()
			for d := temp; strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
				_ = os.Chmod(d, 0o755)
			}
			ci, err := subprocess.NewStateful(&subprocess.Options{Egress: &h.opts, Sandbox: subprocess.Sandbox{Mode: mode, TempDir: temp}, Languages: []subprocess.Language{subprocess.Python()}})
			if err != nil {
				t.Fatal(err)
			}
			defer ci.Close()
			id, err := ci.CreateContext(t.Context(), "python", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := ci.RunInContext(t.Context(), id, `
import urllib.request, subprocess
kept = ['-'.join(['marker', 'of', 'the', 'program'])]
for p in 'echo header chunks trailer base64 status encoding malformed early'.split():
    try:
        r = urllib.request.urlopen('https://example.com/v1/' + p, timeout=20)
        kept.append((str(r.headers), r.read())); print(kept[-1])
        open(p, 'wb').write(kept[-1][1])
    except Exception as e: kept.append(e); print(e)
print(subprocess.run(['curl', '-sSi', '--http2', 'https://example.com/v1/chunks'], capture_output=True).stdout)
child = subprocess.Popen(['bash', '-c', 'curl -sSi https://example.com/v1/echo; exec sleep 100'], stdout=subprocess.PIPE)
print(child.stdout.read1())`, &codeinterp.RunOptions{})
			if err != nil || strings.Count(res.Stdout(), "***") < 6 {
				t.Errorf("%v %s %s", err, res.Stdout(), res.Stderr())
			}
			processes, n, found := descendants(t), 0, false
			for _, pid := range processes {
				k, seen := searched(t, pid, needles)
				n, found = n+k, found || seen
			}
			if len(processes) < 2 || !found {
				t.Errorf("%d processes and %d bytes were searched; the marker was seen: %t", len(processes), n, found)
			}
			t.Logf("%d processes and %d bytes were searched", len(processes), n)
			texts := map[string]string{"result": fmt.Sprintf("%+v", res)}
			h.mu.Lock()
			texts["events"] = fmt.Sprintf("%+v", h.events)
			h.mu.Unlock()
			err = filepath.WalkDir(temp, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					b, _ := os.ReadFile(path)
					texts[path] = string(b)
				}
				return nil
			})
			if err != nil || len(texts) < 8 {
				t.Errorf("%v; %d texts", err, len(texts))
			}
			for where, text := range texts {
				for _, s := range needles {
					if strings.Contains(text, string(s)) {
						t.Errorf("%q is in %s", s, where)
					}
				}
			}
		})
	}
}
