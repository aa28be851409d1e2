//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cases says which tests are the rows of each fault that the project has had in
// what stands between programs and the host. make attack runs them all.
var cases = []struct {
	fault, pkg string
	rows       []string // a test, and maybe the name of a row in it
}{
	{"a program kills its host by a thread's id", "internal/sandbox", []string{"TestAttacks: signals to every thread", "TestAttacks: signals"}},
	{"an interpreter in the home opens the home", "providers/subprocess", []string{"TestInterpreterInHome", "TestRoots"}},
	{"an interpreter of root's opens what is beside it", "internal/sandbox", []string{"TestAttacks: what lies beside what is shown", "TestShow"}},
	{"a run makes later ones end without having run", "providers/subprocess", []string{"TestServerChildren", "TestWarmOutcomes"}},
	{"a program that reads nothing holds up its context", "providers/subprocess", []string{"TestDriverThatReadsNothing"}},
	{"TypeScript ends the host", "providers/subprocess", []string{"TestTypeScriptHostile"}},
	{"TypeScript ends the host, in memory", "providers/inmemory", []string{"TestTypeScriptHostile", "TestTypeScriptMemory"}},
	{"ids, types and frames without a bound", "providers/subprocess", []string{"TestBoundedShows", "TestForgedShows", "TestFramesInFlight"}},
	{"a working directory exchanged for a link", "internal/sandbox", []string{"TestCwd", "TestReplacedByLink"}},
	{"the same, when a context starts again", "providers/subprocess", []string{"TestCwdReplaced"}},
	{"deep trees of directories", "internal/sandbox", []string{"TestDeepTree", "TestLimits: sizes beside a deep tree", "TestDiscard"}},
	{"a thread that displays after its run", "providers/subprocess", []string{"TestThreadDisplays", "TestForkedDisplays"}},
	{"a directory that cannot be listed has no size", "internal/sandbox", []string{"TestLimits: sizes in a directory that cannot be listed", "TestLimits: number of files in a directory that cannot be listed"}},
	{"files mapped, in flight or removed have no size", "internal/sandbox", []string{"TestLimits: sizes of files that are only mapped",
		"TestLimits: sizes of files that only a system call has", "TestLimits: sizes of files that are only executed", "TestLimits: sizes of files in flight", "TestLimits: sizes of removed files"}},
	{"gigabytes of disk in milliseconds", "internal/sandbox", []string{"TestLimits: sizes of files that nobody writes", "TestPolicy"}},
	{"processor time that nobody waits for", "internal/sandbox", []string{"TestLimits: CPU time of children that nobody waits for", "TestClock"}},
	{"memory that nobody counts", "internal/sandbox", []string{"TestLimits: page tables", "TestLimits: memory of nameless files that nobody may look at",
		"TestLimits: shared memory out of the page tables", "TestLimits: memory of sockets", "TestLimits: memory that belongs to no process"}},
	{"processes that nobody may look at", "internal/sandbox", []string{"TestLimits: sizes of files that nobody may look at",
		"TestLimits: memory of sockets that nobody may look at", "TestLimits: CPU time off the clock", "TestUnclocked",
		"TestLimits: sizes of removed files that a program without data keeps", "TestLimits: memory of sockets that a program without data keeps"}},
	{"what is held behind a thread that has ended, or has descriptors of its own", "internal/sandbox", []string{
		"TestLimits: memory of processes whose first thread has ended", "TestLimits: descriptors of a thread's own",
		"TestLimits: memory of sockets behind a thread that has ended", "TestLimits: sizes of removed files behind a thread that has ended"}},
	{"what is mapped behind more mappings than are read", "internal/sandbox", []string{
		"TestLimits: shared memory behind many mappings", "TestLimits: sizes of files that are only mapped, behind many mappings"}},
	{"files of others hide as much of a program's", "internal/sandbox", []string{"TestHiddenBeside"}},
	{"memory of the kernel's for rules, watches and terminals", "internal/sandbox", []string{"TestLimits: memory of rules for Landlock",
		"TestLimits: memory of what epolls watch", "TestLimits: memory of tables and requests of the kernel's",
		"TestLimits: memory of events that nobody reads", "TestLimits: memory of sockets that only a system call has", "TestHeld"}},
	{"sockets in flight", "internal/sandbox", []string{"TestLimits: memory of sockets in flight"}},
	{"zombies of the host", "internal/sandbox", []string{"TestAttacks: a sibling", "TestTrees: siblings", "TestTrees: zombies"}},
	{"errors without a bound", "providers/subprocess", []string{"TestBoundedErrors", "TestLargeLatePrint"}},
	{"programs outlive their host", "internal/sandbox", []string{"TestHostDeath", "TestHostDeathAtStart", "TestHostDeathUntied", "TestSweep"}},
	{"a root host is killed while it starts a program", "internal/sandbox", []string{"TestStoppedBeforeExec", "TestExit"}},
	{"a fork server that does not answer", "providers/subprocess", []string{"TestWarmServerStopped"}},
	{"work of the watchdog that a program chooses", "internal/sandbox", []string{"TestLimits: number of files", "TestLimits: open files"}},
	{"a directory of root's as working directory", "internal/sandbox", []string{"TestCwdOfRoot"}},
	{"a fork bomb delays its end", "internal/sandbox", []string{"TestLimits: fork bomb", "TestTrees: forks while it is killed"}},
	{"every single system call, file, socket and privileged program", "internal/sandbox", []string{"TestProbes"}},
	{"a caller gets another's outcome", "providers/inmemory", []string{"TestHammer", "TestManyContexts"}},
	{"engine memory in system calls", "providers/inmemory", []string{"TestFillingRevokedMemory", "TestDetachedInDigest", "TestFakedViews"}},
	{"jobs of a run in the next one", "providers/inmemory", []string{"TestJobsLeftBehind"}},
	{"the suite passes a provider that breaks the contract", "conformance", []string{"TestFaultsOfRuns", "TestFaultsOfStops", "TestFaultsOfContexts", "TestFaultsOfGroups", "TestEveryClauseHasAFault", "TestNaiveProvider"}},
	{"JavaScript that answers wrongly where Intl is missing", "providers/inmemory", []string{"TestNodeLocale", "TestTwenty"}},
	{"the model's view drops data untold", "tools", []string{"TestCollapse", "TestOverwrittenFramesAreKept"}},
	{"a canceled call stays canceled for its id", "tools", []string{"TestRememberedAtOnce"}},
	{"hostile JavaScript", "providers/inmemory", []string{"TestHostile", "TestStress"}},
	{"variants of these, by the command line and over MCP", "cmd/toolcell", []string{"TestSmallHost"}},
	{"what the host makes of a program's values", "providers/inmemory", []string{"TestHostTakesNoMore"}},
	{"messages of clients that are large once they are decoded", "mcpserver", []string{"TestWeigh"}},
	{"looking at files takes longer than the run may", "providers/subprocess", []string{"TestArtifactsInTime"}},
	{"the report says what is not so", "internal/sandbox", []string{"TestReportIsTrue", "TestEveryLineHasRows"}},
	{"Describe says what is not so", "providers/subprocess", []string{"TestDescribeIsTrue"}},
}

// TestEveryCaseIsARow: the tests that stand for a fault are there.
func TestEveryCaseIsARow(t *testing.T) {
	sources := map[string]string{}
	for _, c := range cases {
		if sources[c.pkg] == "" {
			for _, file := range must(filepath.Glob(filepath.Join("../..", c.pkg, "*_test.go"))) {
				sources[c.pkg] += string(must(os.ReadFile(file)))
			}
		}
		for _, row := range c.rows {
			test, name, _ := strings.Cut(row, ": ")
			if src := sources[c.pkg]; !strings.Contains(src, "func "+test+"(") || name != "" && !strings.Contains(src, `{name: "`+name+`"`) {
				t.Errorf("%s: there is no %s in %s", c.fault, row, c.pkg)
			}
		}
	}
}
