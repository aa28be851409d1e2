package toolcell_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/conformance"
)

// A promise is something that all providers, and what stands on them, do alike.
// What holds it is a clause of the conformance suite or, where that goes
// beyond an interpreter, a test: "folder.TestName".
type promise struct{ what, by string }

var promises = []promise{
	{"a restart under a run", "RestartDuring RestartEmpties codeinterp/driver.TestOrders codeinterp/driver.TestNotBegun"},
	{"a deletion or Close under a run", "DeletedDuring DeletedQueued CloseDuringRun CloseDuringContext"},
	{"when orders return, also from OnOutput", "ManagedFromCallback ClosedFromCallback CloseStubborn StoppedCodeIsDead StoppedCodeWritesNoMore EndedCodeWritesNoMore InterruptEarly codeinterp/driver.TestHandOver"},
	{"orders whose ctx has ended", "EndedCtxDeletes EndedCodeWritesNoMore EndedCtxRestarts EndedCtxDoesNothing CreateCanceled CanceledBefore"},
	{"faults together", "FaultsInOrder codeinterp/driver.TestPrecedence"},
	{"a runtime that had to be killed", "TimeoutStubborn CanceledStubborn InterruptStubborn StateAfterKill codeinterp/driver.TestOutcomes"},
	{"a process that ends by itself", "ExitOfProcess StateAfterDeath KilledBySignal"},
	{"one context beside another", "EndsApart ContextsApart ContextsParallel DeletesApart"},
	{"an end that is not known", "EndNotKnown StatusAndError providers/jupyter.TestLostReply providers/jupyter.TestLeftRunning"},
	{"a runtime that is busy or slow", "SilentIsNotGone codeinterp/driver.TestStartLimit"},
	{"execution counts", "ExecutionCount ExecutionCountOfRuns"},
	{"durations, and how late a run may be", "Duration DurationCounts DurationAlone EndedBeforeTimeout TimeoutExact LatenessKept"},
	{"limits below the defaults", "LimitsHold LimitsTold tools.TestLimitShrinksDefaults tools.TestLimitsAreAnnounced"},
	{"contexts by language", "ContextsDescribed ContextsOfLanguages tools.TestContextsByLanguage"},
	{"the error of a run that was stopped", "StoppedAtUserCode"},
	{"thrown values that are no errors", "ErrorOfAnything ..TestProvidersAgree"},
	{"the end of a JavaScript program", "RunAwaits RepeatingEnds FailedCodeEnds providers/subprocess.TestNodeServers"},
	{"a promise as the last value", "ValueJSON NoValue ErrorOfAnything ..TestProvidersAgree"},
	{"what goes on after a run", "LateOutput LateDuringRun codeinterp/driver.TestLate"},
	{"values as JSON", "ValueJSON ValueText NoValue internal/pyvalue.TestToJSON internal/jsvalue.TestValues"},
	{"progress in the model's view", "StdoutExact tools.TestCollapse tools.TestOverwrittenFramesAreKept tools.TestAccounts"},
	{"truncation", "LimitHeadAndTail LossTold LossOfEachTold ErrorLossTold TruncationTold ResultBounded tools.TestTruncation"},
	{"a call id that comes again", "tools.TestRepeatedID tools.TestRemembered tools.TestRememberedAtOnce tools.TestMemoryBounds"},
	{"files of contexts", "FilesTold LanguageFiles FilesShared FilesDuringRun FilesFaults FilesRenamed FilesLinks FilesSpecial FilesNotUTF8 FilesStay FilesEnd FilesClosed FilesWritten FilesTree ..TestFilesAgree"},
	{"inputs", "FilesRefused InputsFound InputsReplace InputsWhole ContextInputs ContextInputsWhole"},
	{"artifacts", "ArtifactsFound ArtifactsChanged ArtifactsData ArtifactsUnasked ArtifactsAtTimeout internal/rootfs.TestArtifactsHostile"},
	{"commands", "CommandEnds CommandInput CommandOutput CommandEnv CommandCwd CommandRefused CommandTimeout CommandCanceled CommandSignals CommandAlone CommandChildren CommandClosed"},
	{"functions", "FunctionCalled FunctionFails FunctionNothing FunctionShows FunctionsInvalid FunctionLimits FunctionUntimed FunctionsOfContext FunctionsOfOthers"},
	{"functions when a run ends", "FunctionTimeout FunctionCanceled FunctionDeaf codeinterp/driver.TestCallsEndWithTheRun codeinterp/driver.TestFunctionThatDoesNotReturn"},
	{"capabilities through layers", "StatelessHides WrapKeepsPresence NoStrayMethods codeinterp.TestNarrowGroups workspace.TestDeclaredIsOffered"},
}

// TestPromisesAreHeld wants everything that holds a promise to be there.
func TestPromisesAreHeld(t *testing.T) {
	clauses := map[string]bool{}
	for _, c := range conformance.Clauses() {
		clauses[c.Check] = true
	}
	for _, p := range promises {
		for by := range strings.FieldsSeq(p.by) {
			folder, test, isTest := cutLast(by, ".")
			if isTest && !hasTest(t, folder, test) || !isTest && !clauses[by] {
				t.Errorf("%s: no %s", p.what, by)
			}
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// hasTest reports whether a folder's tests have one of the name.
func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ` + name + `\(`)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if declared.Match(data) {
			return true
		}
	}
	return false
}
