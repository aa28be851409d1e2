package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/toolcell/toolcell/codeinterp"
)

// fileChecks are about files that go in and out. They concern providers whose
// LanguageInfo.Files is set, and the first three all others.
func fileChecks() []check {
	return []check{
		{
			name: "LanguageFiles", scope: stateful,
			clause: "a context's files can be opened where LanguageInfo.Files says so of its language, and nowhere else: there it is ErrInvalid",
			run:    languageFiles,
		},
		{
			name: "InputsFound", scope: everyRun, uses: withFiles,
			clause: "the program finds RunOptions.Files in the directory in which it starts",
			run: filing(func(ctx context.Context, e *env) error {
				for _, path := range []string{"toolcell-in.txt", "toolcell-dir/in.txt"} {
					out, err := e.stdout(ctx, e.p.ReadFile(path), &codeinterp.RunOptions{Files: inputs(path, SplitText)})
					must(errors.Join(err, wantText(path, out, SplitText)))
				}
				return nil
			}),
		},
		{
			name: "FilesShared", scope: stateful, uses: withFiles,
			clause: "a context's programs and OpenFiles see what the other writes",
			run:    opening(filesShared),
		},
	}
}

// files reports whether the provider says that it takes and finds files of the
// language's programs.
func (e *env) files() bool { return codeinterp.Describe(e.ci).HasFiles(e.language) }

func hasFiles(ci codeinterp.CodeInterpreter) bool {
	_, ok := codeinterp.Files(ci)
	return ok
}

func withFiles(p *Programs) bool { return p.WriteFile != nil && p.ReadFile != nil }

// filing makes a check one of providers with files.
func filing(run func(context.Context, *env) error) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		if !e.files() {
			return nil
		}
		return run(ctx, e)
	}
}

// opening makes a check one of providers whose contexts' files can be opened,
// and gives it a new context with its directory.
func opening(run func(context.Context, *env, codeinterp.ContextID, codeinterp.FS) error) func(context.Context, *env) error {
	return func(ctx context.Context, e *env) error {
		files, ok := codeinterp.Files(e.ci)
		if !ok || !e.files() {
			return nil
		}
		id := need(e.context(ctx, nil))
		dir, err := files.OpenFiles(ctx, id)
		if err != nil {
			return fmt.Errorf("OpenFiles: %w", err)
		}
		return run(ctx, e, id, dir)
	}
}

func languageFiles(ctx context.Context, e *env) error {
	files, ok := codeinterp.Files(e.ci)
	if _, describes := e.ci.(codeinterp.Describer); !ok || !describes {
		return nil
	}
	id := need(e.context(ctx, nil))
	_, err := files.OpenFiles(ctx, id)
	switch described := e.files(); {
	case described && err != nil:
		return fmt.Errorf("Describe says that there are files of %s, and OpenFiles: %w", e.language, err)
	case !described && !errors.Is(err, codeinterp.ErrInvalid):
		return fmt.Errorf("Describe says that there are no files of %s, and OpenFiles: %v, want ErrInvalid", e.language, err)
	}
	return nil
}

func inputs(path, text string) fs.FS { return fstest.MapFS{path: {Data: []byte(text)}} }

func filesShared(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	given := strings.Repeat(SplitText, 1000)
	err := errors.Join(dir.MkdirAll("toolcell-dir/deep", 0o755),
		codeinterp.WriteFile(dir, "toolcell-dir/deep/given.txt", strings.NewReader(given), 0o644))
	if err != nil {
		return err
	}
	out, err := e.stdoutIn(ctx, id, e.p.ReadFile("toolcell-dir/deep/given.txt"))
	must(errors.Join(err, wantText("what the program reads", out, given)))
	must(e.do(ctx, id, e.p.WriteFile("toolcell-dir/made.txt", SplitText)))
	made, err := fs.ReadFile(dir, "toolcell-dir/made.txt")
	must(errors.Join(err, wantText("what the program wrote", string(made), SplitText)))
	list, err := dir.ReadDir("toolcell-dir")
	if err == nil && (len(list) != 2 || list[0].Name() != "deep" || !list[0].IsDir() || list[1].Name() != "made.txt") {
		err = fmt.Errorf("the directory has %v, want deep/ and made.txt", list)
	}
	return err
}

// artifactChecks are about what a run did to files. They concern providers whose
// LanguageInfo.Files is set.
func artifactChecks() []check {
	return []check{
		{
			name: "ArtifactsFound", scope: everyRun, uses: withFiles,
			clause: "Artifacts tells of the files that the run created or changed, sorted, in directories too: path, MIME type, size and hash; and of none that was given to it and is as it was",
			run:    filing(artifactsFound),
		},
	}
}

func artifactsFound(ctx context.Context, e *env) error {
	const found, given, inner, changed = "toolcell-found.txt", "toolcell-dir/given.txt", "toolcell-dir/inner.txt", "toolcell-dir/changed.txt"
	o := &codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{given: {Data: []byte("given")}, changed: {Data: []byte("given")}}}
	code := lines(e.p.ReadFile(given), e.p.WriteFile(found, SplitText), e.p.WriteFile(inner, SplitText), e.p.WriteFile(changed, SplitText))
	res, err := e.run(ctx, code, o)
	must(wantOK(res, err))
	if _, listed := artifact(res, given); listed {
		return errors.New("Artifacts lists what was given to the run")
	}
	if !slices.IsSortedFunc(res.Artifacts, func(a, b codeinterp.Artifact) int { return strings.Compare(a.Path, b.Path) }) {
		return fmt.Errorf("Artifacts are %+v, want them sorted", res.Artifacts)
	}
	return errors.Join(wantArtifact(res, found, SplitText), wantArtifact(res, inner, SplitText), wantArtifact(res, changed, SplitText))
}

// artifact returns the artifact with a path, if there is one.
func artifact(res codeinterp.Result, path string) (codeinterp.Artifact, bool) {
	i := slices.IndexFunc(res.Artifacts, func(a codeinterp.Artifact) bool { return a.Path == path })
	if i < 0 {
		return codeinterp.Artifact{}, false
	}
	return res.Artifacts[i], true
}

// wantArtifact wants a text file among the artifacts.
func wantArtifact(res codeinterp.Result, path, text string) error {
	got, ok := artifact(res, path)
	if !ok {
		return fmt.Errorf("Artifacts are %+v, without %s", res.Artifacts, path)
	}
	sum := sha256.Sum256([]byte(text))
	got.Data = nil
	want := codeinterp.Artifact{Path: path, MIME: "text/plain", Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("the artifact is %+v, want %+v", got, want)
	}
	return nil
}
