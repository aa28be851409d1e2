//go:build real && linux

package subprocess_test

import (
	"runtime"
	"testing"

	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/internal/tier"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// A context that has no connection open costs no goroutine for its network, and a
// descriptor for each listener in bwrap mode. docs/network.md
func TestNetworkIdle(t *testing.T) {
	contexts := 8
	if tier.Full {
		contexts = 40
	}
	for _, mode := range []subprocess.Mode{subprocess.Landlock, subprocess.Bwrap} {
		t.Run(mode.String(), func(t *testing.T) {
			// What all of them cost: it is even enough that one for each of them shows.
			cost := func(e *egress.Options) (bytes, goroutines, files int) {
				ci, err := subprocess.NewStateful(&subprocess.Options{Egress: e, Sandbox: subprocess.Sandbox{Mode: mode}, Languages: []subprocess.Language{subprocess.Python()}})
				if err != nil {
					t.Fatal(err)
				}
				defer ci.Close()
				taken := func() (int, int, int) {
					runtime.GC()
					runtime.GC()
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					return int(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine(), descriptors(t)
				}
				b, g, d := taken()
				for range contexts {
					if _, err := ci.CreateContext(t.Context(), "python", nil); err != nil {
						t.Fatal(err)
					}
				}
				bytes, goroutines, files = taken()
				return bytes - b, goroutines - g, files - d
			}
			cost(nil) // what is made once
			bytes, goroutines, files := cost(nil)
			netBytes, netGoroutines, netFiles := cost(&egress.Options{Policy: egress.Policy{Mode: egress.Open}})
			t.Logf("%d bytes, %d goroutines, %d descriptors; with a policy %d, %d, %d", bytes, goroutines, files, netBytes, netGoroutines, netFiles)
			least, listeners := contexts/2, map[subprocess.Mode]int{subprocess.Bwrap: 4 * contexts}[mode]
			if netGoroutines > goroutines+least || netFiles > files+listeners+least || tier.Full && netBytes > bytes+contexts*4<<10 {
				t.Errorf("%d bytes, %d goroutines, %d descriptors; with a policy %d, %d, %d", bytes, goroutines, files, netBytes, netGoroutines, netFiles)
			}
		})
	}
}
