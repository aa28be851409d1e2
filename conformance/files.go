package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// fileChecks are about files that go in and out. They concern providers whose
// Info.Files is set, and the first three all others.
func fileChecks() []check {
	return []check{
		{
			name:   "FilesTold",
			clause: "the files of contexts can be opened exactly where Info.Files says so and there are contexts",
			run: func(ctx context.Context, e *env) error {
				_, describes := e.ci.(codeinterp.Describer)
				if want := codeinterp.Describe(e.ci).Files && hasContexts(e.ci); describes && hasFiles(e.ci) != want {
					return fmt.Errorf("%T has OpenFiles: %v, want %v", e.ci, !want, want)
				}
				return nil
			},
		},
		{
			name:   "LanguageFiles",
			clause: "a context's files can be opened where LanguageInfo.Files says so of its language, and nowhere else: there it is ErrInvalid",
			scope:  stateful,
			run:    languageFiles,
		},
		{
			name:   "FilesRefused",
			clause: "Files and Artifacts are ErrInvalid where Info.Files is not set",
			scope:  stateless,
			run: func(ctx context.Context, e *env) error {
				if _, describes := e.ci.(codeinterp.Describer); !describes || e.files() {
					return nil
				}
				for _, o := range []*codeinterp.RunOptions{{Files: inputs("toolcell-in.txt", "x")}, {Artifacts: true}} {
					res, err := e.run(ctx, e.p.Print("x"), o)
					if err := wantNotRun(res, err, codeinterp.ErrInvalid); err != nil {
						return err
					}
				}
				return nil
			},
		},
		{
			name:   "InputsFound",
			clause: "the program finds RunOptions.Files in the directory in which it starts",
			scope:  everyRun, uses: withFiles,
			run: filing(func(ctx context.Context, e *env) error {
				for _, path := range []string{"toolcell-in.txt", "toolcell-dir/in.txt"} {
					out, err := e.stdout(ctx, e.p.ReadFile(path), &codeinterp.RunOptions{Files: inputs(path, SplitText)})
					if err := errors.Join(err, wantText(path, out, SplitText)); err != nil {
						return err
					}
				}
				return nil
			}),
		},
		{
			name:   "InputsReplace",
			clause: "RunOptions.Files replaces files of the same names",
			scope:  stateful, uses: withFiles,
			run: filing(func(ctx context.Context, e *env) error {
				const path = "toolcell-same.txt"
				id, err := e.some(ctx)
				if err == nil {
					err = e.do(ctx, id, e.p.WriteFile(path, "older and longer"))
				}
				if err != nil {
					return err
				}
				res, err := e.runIn(ctx, id, e.p.ReadFile(path), &codeinterp.RunOptions{Files: inputs(path, "newer")})
				return errors.Join(err, wantText("the file", res.Stdout(), "newer"))
			}),
		},
		{
			name:   "InputsWhole",
			clause: "where one of RunOptions.Files cannot be copied, or there are too many, none is, the program does not begin, and the error is ErrInvalid",
			scope:  stateful, uses: withFiles,
			run: filing(inputsWhole),
		},
		{
			name:   "ContextInputs",
			clause: "all runs of a context find ContextOptions.Files",
			scope:  stateful, uses: withFiles,
			run: filing(func(ctx context.Context, e *env) error {
				const path = "toolcell-own.txt"
				id, err := e.context(ctx, &codeinterp.ContextOptions{Files: inputs(path, SplitText)})
				if err != nil {
					return err
				}
				out, err := e.stdoutIn(ctx, id, e.p.ReadFile(path))
				return errors.Join(err, wantText("the file", out, SplitText))
			}),
		},
		{
			name:   "FilesShared",
			clause: "a context's programs and OpenFiles see what the other writes",
			scope:  stateful, uses: withFiles,
			run: opening(filesShared),
		},
		{
			name:   "FilesDuringRun",
			clause: "OpenFiles may be called from OnOutput, waits for no run, and sees what the program has written",
			scope:  stateful, uses: withFiles,
			run: filing(filesDuringRun),
		},
		{
			name:   "ContextInputsWhole",
			clause: "where one of ContextOptions.Files cannot be copied, there is no context, and the error is ErrInvalid",
			scope:  stateful, needs: []Feature{Manager},
			run: filing(contextInputsWhole),
		},
		{
			name:   "FilesFaults",
			clause: "errors of a context's files are those of io/fs, in a PathError",
			scope:  stateful,
			run:    opening(filesFaults),
		},
		{
			name:   "FilesStay",
			clause: "a context's files stay over RestartContext, and so does what OpenFiles returned",
			scope:  stateful, needs: []Feature{Manager}, uses: withFiles,
			run: opening(filesStay),
		},
		{
			name:   "FilesEnd",
			clause: "a context's files fail with ErrContext once it is deleted",
			scope:  stateful,
			run:    opening(filesEnd),
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
		id, err := e.context(ctx, nil)
		if err != nil {
			return err
		}
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
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	_, err = files.OpenFiles(ctx, id)
	switch told := e.files(); {
	case told && err != nil:
		return fmt.Errorf("Describe says that there are files of %s, and OpenFiles: %w", e.language, err)
	case !told && !errors.Is(err, codeinterp.ErrInvalid):
		return fmt.Errorf("Describe says that there are no files of %s, and OpenFiles: %v, want ErrInvalid", e.language, err)
	}
	return nil
}

func inputs(path, text string) fs.FS { return fstest.MapFS{path: {Data: []byte(text)}} }

func inputsWhole(ctx context.Context, e *env) error {
	const path = "toolcell-half.txt"
	id, err := e.some(ctx)
	if err == nil {
		err = e.do(ctx, id, e.p.WriteFile(path, "old"))
	}
	if err != nil {
		return err
	}
	// The link, which is refused, comes behind a file that could be copied.
	src := fstest.MapFS{path: {Data: []byte("new")}, "toolcell-link": {Mode: fs.ModeSymlink, Data: []byte("/")}}
	res, err := e.runIn(ctx, id, e.p.WriteFile(path, "begun"), &codeinterp.RunOptions{Files: src})
	if err := wantNotRun(res, err, codeinterp.ErrInvalid); err != nil {
		return err
	}
	many := fstest.MapFS{path: {Data: []byte("new")}}
	for i := range codeinterp.MaxInputFiles {
		many[fmt.Sprint("toolcell-many-", i)] = many[path]
	}
	res, err = e.runIn(ctx, id, e.p.WriteFile(path, "begun"), &codeinterp.RunOptions{Files: many})
	if err := errors.Join(wantNotRun(res, err, codeinterp.ErrInvalid), wantNotRun(res, err, codeinterp.ErrTooLarge)); err != nil {
		return fmt.Errorf("with %d files: %w", len(many), err)
	}
	out, err := e.stdoutIn(ctx, id, e.p.ReadFile(path))
	return errors.Join(err, wantText("the file", out, "old"))
}

func filesShared(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	given := strings.Repeat(SplitText, 1000)
	err := errors.Join(dir.MkdirAll("toolcell-dir/deep", 0o755),
		codeinterp.WriteFile(dir, "toolcell-dir/deep/given.txt", strings.NewReader(given), 0o644))
	if err != nil {
		return err
	}
	out, err := e.stdoutIn(ctx, id, e.p.ReadFile("toolcell-dir/deep/given.txt"))
	if err := errors.Join(err, wantText("what the program reads", out, given)); err != nil {
		return err
	}
	if err := e.do(ctx, id, e.p.WriteFile("toolcell-dir/made.txt", SplitText)); err != nil {
		return err
	}
	made, err := fs.ReadFile(dir, "toolcell-dir/made.txt")
	if err := errors.Join(err, wantText("what the program wrote", string(made), SplitText)); err != nil {
		return err
	}
	list, err := dir.ReadDir("toolcell-dir")
	if err == nil && (len(list) != 2 || list[0].Name() != "deep" || !list[0].IsDir() || list[1].Name() != "made.txt") {
		err = fmt.Errorf("the directory has %v, want deep/ and made.txt", list)
	}
	return err
}

func filesDuringRun(ctx context.Context, e *env) error {
	const path = "toolcell-live.txt"
	files, ok := codeinterp.Files(e.ci)
	if !ok {
		return nil
	}
	id, err := e.context(ctx, nil)
	if err != nil {
		return err
	}
	var got []byte
	var seen error
	var once sync.Once
	o := &codeinterp.RunOptions{OnOutput: func(codeinterp.Output) error {
		once.Do(func() {
			var dir codeinterp.FS
			if dir, seen = files.OpenFiles(ctx, id); seen == nil {
				got, seen = fs.ReadFile(dir, path)
			}
		})
		return nil
	}}
	res, err := e.runIn(ctx, id, lines(e.p.WriteFile(path, SplitText), e.p.Print("written"), e.p.Pause(10*time.Millisecond)), o)
	if err := errors.Join(wantOK(res, err), seen); err != nil {
		return err
	}
	return wantText("the file, from OnOutput", string(got), SplitText)
}

func contextInputsWhole(ctx context.Context, e *env) error {
	before, err := e.manager().ListContexts(ctx)
	if err != nil {
		return fmt.Errorf("ListContexts: %w", err)
	}
	src := fstest.MapFS{"toolcell-own.txt": {Data: []byte("x")}, "toolcell-link": {Mode: fs.ModeSymlink, Data: []byte("/")}}
	if id, err := e.stateful().CreateContext(ctx, e.language, &codeinterp.ContextOptions{Files: src}); err == nil {
		e.made = append(e.made, id)
		return errors.New("CreateContext copied a link")
	} else if err := wantOpError(err, codeinterp.ErrInvalid); err != nil {
		return err
	}
	after, err := e.manager().ListContexts(ctx)
	if err != nil {
		return fmt.Errorf("ListContexts: %w", err)
	}
	if len(after) != len(before) {
		return fmt.Errorf("%d contexts, %d before CreateContext failed", len(after), len(before))
	}
	return nil
}

func filesFaults(_ context.Context, _ *env, _ codeinterp.ContextID, dir codeinterp.FS) error {
	if err := dir.Mkdir("toolcell-dir", 0o755); err != nil {
		return err
	}
	open := func(name string, flag int) error {
		f, err := dir.OpenFile(name, flag, 0o644)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	for _, tt := range []struct {
		what      string
		err, want error
	}{
		{"opening what is not there", open("toolcell-none", os.O_RDONLY), fs.ErrNotExist},
		{"creating it in no directory", open("toolcell-none/x", os.O_WRONLY|os.O_CREATE), fs.ErrNotExist},
		{"opening a directory", open("toolcell-dir", os.O_WRONLY), codeinterp.ErrIsDir},
		{"opening what is above", open("../x", os.O_RDONLY), fs.ErrInvalid},
		{"opening an absolute path", open("/etc/passwd", os.O_RDONLY), fs.ErrInvalid},
		{"making a directory that is there", dir.Mkdir("toolcell-dir", 0o755), fs.ErrExist},
		{"removing what is not there", dir.Remove("toolcell-none"), fs.ErrNotExist},
		{"moving out", dir.Rename("toolcell-dir", "../x"), fs.ErrInvalid},
	} {
		if _, ok := errors.AsType[*fs.PathError](tt.err); !ok || !errors.Is(tt.err, tt.want) {
			return fmt.Errorf("%s: error %v (%T), want a PathError that is %q", tt.what, tt.err, tt.err, tt.want)
		}
	}
	return nil
}

func filesStay(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const path = "toolcell-stay.txt"
	if err := e.do(ctx, id, e.p.WriteFile(path, "stays")); err != nil {
		return err
	}
	if err := e.manager().RestartContext(ctx, id); err != nil {
		return fmt.Errorf("RestartContext: %w", err)
	}
	got, err := fs.ReadFile(dir, path)
	if err := errors.Join(err, wantText("the file", string(got), "stays")); err != nil {
		return err
	}
	out, err := e.stdoutIn(ctx, id, e.p.ReadFile(path))
	return errors.Join(err, wantText("what the next program reads", out, "stays"))
}

func filesEnd(ctx context.Context, e *env, id codeinterp.ContextID, dir codeinterp.FS) error {
	const path = "toolcell-end.txt"
	if err := codeinterp.WriteFile(dir, path, bytes.NewReader(nil), 0o644); err != nil {
		return err
	}
	f, err := dir.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	files, _ := codeinterp.Files(e.ci)
	if _, err := files.OpenFiles(e.done(ctx), id); !errors.Is(err, errStop) {
		return fmt.Errorf("OpenFiles with a ctx that has ended: error %v, want its cause", err)
	}
	if err := e.stateful().DeleteContext(ctx, id); err != nil {
		return fmt.Errorf("DeleteContext: %w", err)
	}
	_, stat := dir.Stat(path)
	_, write := f.Write([]byte("x"))
	_, open := files.OpenFiles(ctx, id)
	for what, err := range map[string]error{"Stat": stat, "Write": write, "OpenFiles": open} {
		if !errors.Is(err, codeinterp.ErrContext) {
			return fmt.Errorf("%s after the end: error %v, want one that is %q", what, err, codeinterp.ErrContext)
		}
	}
	return nil
}
