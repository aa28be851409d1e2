package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// artifactChecks are about what a run did to files. They concern providers whose
// Info.Files is set.
func artifactChecks() []check {
	return []check{
		{
			name:   "ArtifactsFound",
			clause: "Artifacts tells of the files that the run created or changed, sorted, in directories too: path, MIME type, size and hash; and of none that was given to it and is as it was",
			scope:  everyRun, uses: withFiles,
			run: filing(artifactsFound),
		},
		{
			name:   "ArtifactsChanged",
			clause: "Artifacts tells of a file that the run changed, also to another text of the same length, and of none that it left as it was, whoever wrote that",
			scope:  stateful, uses: withFiles,
			run: filing(artifactsChanged),
		},
		{
			name:   "ArtifactsData",
			clause: "the Artifacts of a RunCode have the content of its files",
			scope:  stateless, uses: withFiles,
			run: filing(func(ctx context.Context, e *env) error {
				const path = "toolcell-data.txt"
				res, err := e.run(ctx, e.p.WriteFile(path, SplitText), &codeinterp.RunOptions{Artifacts: true})
				if err := wantOK(res, err); err != nil {
					return err
				}
				a, _ := artifact(res, path)
				return wantText("the content of "+path, string(a.Data), SplitText)
			}),
		},
		{
			name:   "ArtifactsUnasked",
			clause: "a Result has no Artifacts where RunOptions.Artifacts did not ask for them",
			scope:  everyRun, uses: withFiles,
			run: filing(func(ctx context.Context, e *env) error {
				res, err := e.run(ctx, e.p.WriteFile("toolcell-unasked.txt", "x"), nil)
				if err == nil && len(res.Artifacts) > 0 {
					err = fmt.Errorf("Artifacts are %+v, want none", res.Artifacts)
				}
				return err
			}),
		},
		{
			name:   "ArtifactsAtTimeout",
			clause: "Artifacts tells of what a run did to files before it failed or was stopped",
			scope:  stateless, uses: withFiles,
			run: filing(func(ctx context.Context, e *env) error {
				const path = "toolcell-stopped.txt"
				if e.p.Fail != nil {
					res, err := e.run(ctx, lines(e.p.WriteFile(path, SplitText), e.p.Fail("x")), &codeinterp.RunOptions{Artifacts: true})
					if err := errors.Join(err, wantArtifact(res, path, SplitText)); err != nil {
						return fmt.Errorf("a program that fails: %w", err)
					}
				}
				timeout, err := e.timeout(ctx, 500*time.Millisecond)
				if err != nil {
					return err
				}
				code := lines(e.p.WriteFile(path, SplitText), e.p.Print("written"), e.p.Pause(time.Hour))
				res, err := e.run(ctx, code, &codeinterp.RunOptions{Artifacts: true, Timeout: timeout})
				if err := wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout); err != nil {
					return err
				}
				if res.Stdout() == "" {
					return nil // it was stopped before
				}
				return wantArtifact(res, path, SplitText)
			}),
		},
	}
}

func artifactsFound(ctx context.Context, e *env) error {
	const found, given, inner, changed = "toolcell-found.txt", "toolcell-dir/given.txt", "toolcell-dir/inner.txt", "toolcell-dir/changed.txt"
	o := &codeinterp.RunOptions{Artifacts: true, Files: fstest.MapFS{given: {Data: []byte("given")}, changed: {Data: []byte("given")}}}
	code := lines(e.p.ReadFile(given), e.p.WriteFile(found, SplitText), e.p.WriteFile(inner, SplitText), e.p.WriteFile(changed, SplitText))
	res, err := e.run(ctx, code, o)
	if err := wantOK(res, err); err != nil {
		return err
	}
	if _, listed := artifact(res, given); listed {
		return errors.New("Artifacts lists what was given to the run")
	}
	if !slices.IsSortedFunc(res.Artifacts, func(a, b codeinterp.Artifact) int { return strings.Compare(a.Path, b.Path) }) {
		return fmt.Errorf("Artifacts are %+v, want them sorted", res.Artifacts)
	}
	return errors.Join(wantArtifact(res, found, SplitText), wantArtifact(res, inner, SplitText), wantArtifact(res, changed, SplitText))
}

func artifactsChanged(ctx context.Context, e *env) error {
	const path = "toolcell-changed.txt"
	id, err := e.some(ctx)
	if err != nil {
		return err
	}
	// A run that did not ask for artifacts leaves nothing to tell for the next.
	if err := e.do(ctx, id, e.p.WriteFile("toolcell-before.txt", "before")); err != nil {
		return err
	}
	// Both are of one length, so that the size tells nothing; the last run only
	// reads.
	for _, text := range []string{"first", "other", ""} {
		code := e.p.ReadFile(path)
		if text != "" {
			code = e.p.WriteFile(path, text)
		}
		res, err := e.runIn(ctx, id, code, &codeinterp.RunOptions{Artifacts: true})
		if err := wantOK(res, err); err != nil {
			return err
		}
		if _, listed := artifact(res, "toolcell-before.txt"); listed {
			return errors.New("Artifacts lists a file that another run wrote")
		}
		if _, listed := artifact(res, path); text == "" && listed {
			return errors.New("Artifacts lists a file that the run only read")
		} else if text == "" {
			return nil
		}
		if err := wantArtifact(res, path, text); err != nil {
			return err
		}
	}
	return nil
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
