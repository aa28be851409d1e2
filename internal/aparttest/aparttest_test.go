package aparttest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Beside(3)
	os.Exit(m.Run())
}

func TestApart(t *testing.T) {
	if Run(t) {
		return
	}
	if os.Getppid() == 1 || os.Getenv(variable) != t.Name() {
		t.Errorf("this is no process for %s", t.Name())
	}
	t.Run("part", func(t *testing.T) { t.Skip("not this part") })
	t.Log("1 of 1")
}

// what the tests below are to do, where they are run at all.
const demand = "TOOLCELL_TEST_DEMAND"

func TestSkips(t *testing.T) {
	if os.Getenv(demand) == "" {
		t.Skip("TestOutcomes runs it")
	}
	if !Run(t) {
		t.Skip("there is no such thing")
	}
}

func TestFails(t *testing.T) {
	if os.Getenv(demand) == "" {
		t.Skip("TestOutcomes runs it")
	}
	if !Run(t) {
		t.Run("part", func(t *testing.T) { t.Error("it broke") })
	}
}

// TestOutcomes wants a test to end as it does in its process, and to say why.
func TestOutcomes(t *testing.T) {
	for test, want := range map[string]struct {
		code int
		says []string
	}{
		"TestApart": {0, []string{"skipped: not this part", ": 1 of 1", "--- PASS: TestApart "}},
		"TestSkips": {0, []string{": there is no such thing", "--- SKIP: TestSkips "}},
		"TestFails": {1, []string{"--- FAIL: TestFails/part", ": it broke"}},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v=true")
		cmd.Env = append(os.Environ(), demand+"=1")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != want.code {
			t.Errorf("%s ended with %d, want %d", test, code, want.code)
		}
		for _, says := range want.says {
			if !strings.Contains(string(out), says) {
				t.Errorf("%s does not say %q:\n%s", test, says, out)
			}
		}
	}
}
