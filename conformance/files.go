package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
)

// fileChecks are about files that go in and out. They concern providers whose
// LanguageInfo.Files is set.
func fileChecks() []check {
	return []check{
		{
			name: "InputsFound", scope: everyRun, uses: files,
			clause: "the program finds RunOptions.Files in the directory in which it starts",
			run: filing(func(e *env) {
				for _, path := range []string{"toolcell-in.txt", "toolcell-dir/in.txt"} {
					e.prints(path, e.p.ReadFile(path), SplitText, &codeinterp.RunOptions{Files: fstest.MapFS{path: {Data: []byte(SplitText)}}})
				}
			}),
		},
		{
			name: "FilesShared", scope: stateful, uses: files,
			clause: "a context's programs and OpenFiles see what the other writes, where LanguageInfo.Files says so of its language; elsewhere OpenFiles is ErrInvalid",
			run:    filesShared,
		},
		{
			name: "ArtifactsFound", scope: everyRun, uses: files,
			clause: "Artifacts lists the files that the run created or changed, sorted, in directories too: path, MIME type, size and hash; and none that was given to it and is as it was",
			run:    filing(artifactsFound),
		},
	}
}

// filing makes a check one of providers with files.
func filing(run func(*env)) func(*env) {
	return func(e *env) {
		if e.info().Files {
			run(e)
		}
	}
}

func filesShared(e *env) {
	files, ok := codeinterp.Files(e.ci)
	if !ok {
		return
	}
	id := e.context(nil)
	dir, err := files.OpenFiles(e.ctx, id)
	if !e.info().Files {
		wantOpError(err, codeinterp.ErrInvalid)
		return
	}
	must(err)
	given := strings.Repeat(SplitText, 1000)
	must(dir.MkdirAll("toolcell-dir/deep", 0o755))
	must(codeinterp.WriteFile(dir, "toolcell-dir/deep/given.txt", strings.NewReader(given), 0o644))
	e.printsIn(id, "what the program reads", e.p.ReadFile("toolcell-dir/deep/given.txt"), given)
	e.okIn(id, e.p.WriteFile("toolcell-dir/made.txt", SplitText), nil)
	wantText("what the program wrote", string(need(fs.ReadFile(dir, "toolcell-dir/made.txt"))), SplitText)
	list := need(dir.ReadDir("toolcell-dir"))
	if len(list) != 2 || list[0].Name() != "deep" || !list[0].IsDir() || list[1].Name() != "made.txt" {
		failf("the directory has %v, want deep/ and made.txt", list)
	}
}

func artifactsFound(e *env) {
	const given, changed, inner, found = "toolcell-dir/given.txt", "toolcell-dir/changed.txt", "toolcell-dir/inner.txt", "toolcell-found.txt"
	o := &codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{given: {Data: []byte("given")}, changed: {Data: []byte("given")}}}
	res := e.ok(lines(e.p.ReadFile(given), e.p.WriteFile(found, SplitText), e.p.WriteFile(inner, SplitText), e.p.WriteFile(changed, SplitText)), o)
	sum := sha256.Sum256([]byte(SplitText))
	var want []string
	for _, path := range []string{changed, inner, found} {
		want = append(want, path+" "+hex.EncodeToString(sum[:]))
	}
	var got []string
	for _, a := range res.Artifacts {
		// An earlier run of the context may have left other files.
		if a.MIME == "text/plain" && a.Size == int64(len(SplitText)) {
			got = append(got, a.Path+" "+a.SHA256)
		}
	}
	if !slices.Equal(got, want) {
		failf("Artifacts are %+v, want the text files %q", res.Artifacts, want)
	}
}
