package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/inputs"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/outdir"
	"github.com/toolcell/toolcell/codeinterp"
)

// fileFlags choose files to copy to the program, and where its own files are saved.
type fileFlags struct {
	in  []string
	out string
}

func (f *fileFlags) registerFiles(fs *pflag.FlagSet) {
	group(fs, "Files", "", func() {
		fs.Func("in", "copy this `file` or directory to where the program starts; repeatable; with jupyter in Python only", each(&f.in))
		fs.StringVar(&f.out, "out", "", "save files that the program creates or changes into this `directory`, up to 8 MiB in all; for a notebook, the file to write it to with its outputs, or - for standard output")
	})
}

// readInputs returns the files of --in, nil for none.
func readInputs(paths []string) (fs.FS, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	in := inputs.Files{}
	paths, err := absolute(paths)
	for _, path := range paths {
		name := filepath.Base(path)
		if other := in[name]; other != "" && other != path {
			return nil, fmt.Errorf("--in: %s and %s have the same name", other, path)
		}
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("--in: %s has no name that it could have beside the program", path)
		}
		in[name] = path
	}
	return in, err
}

// runFiles are the input files and the directory for saved files; both may be nil.
type runFiles struct {
	in      fs.FS
	out     *os.Root
	private bool // the program starts in a directory of its own
}

// openFiles makes the directory before the program runs: a program whose files cannot be
// saved does not run.
func (f *fileFlags) openFiles(p *programFlags, flag, dir string) (files runFiles, err error) {
	files.private = p.dir == "" && p.provider != "jupyter"
	switch {
	case p.dir != "" && (len(f.in) > 0 || dir != ""):
		return files, fmt.Errorf("--in and %s do not go with --dir: the program has the files of that directory, and with --write changes them", flag)
	case dir == "-", strings.EqualFold(filepath.Ext(dir), ".ipynb"):
		return files, fmt.Errorf("%s takes a directory; --out is a file, or -, where a notebook is run, whose name ends in .ipynb", flag)
	}
	if files.in, err = readInputs(f.in); err == nil && dir != "" {
		// The names of a program's files do not lead out of a Root.
		if files.out, err = outdir.Writable(p.write).Open(dir); err != nil {
			err = fmt.Errorf("%s: %w", flag, err)
		}
	}
	return files, err
}

func (f *runFiles) close() {
	if f.out != nil {
		_ = f.out.Close()
	}
}

// saveArtifacts saves the program's files, if --out is given, and reports each on standard
// error. It returns the program's exit code, or 1 instead of 0 if a file was not saved.
func (a *app) saveArtifacts(f *runFiles, res *codeinterp.Result) int {
	code := res.ExitCode
	if f.out == nil {
		a.reportLost(res.Artifacts)
		return code
	}
	for _, artifact := range res.Artifacts {
		shown := visible(filepath.Join(f.out.Name(), filepath.FromSlash(artifact.Path)))
		if err := f.save(&artifact); err != nil {
			fmt.Fprintf(a.stderr, "toolcell: %s not saved: %v\n", shown, err)
			code = cmp.Or(code, exitFailure)
			continue
		}
		fmt.Fprintf(a.stderr, "toolcell: saved %s (%s)\n", shown, bytesOf(artifact.Size))
	}
	for _, t := range res.Truncated {
		if t.Stream == "artifacts" && t.Reason == codeinterp.TruncatedByLimit {
			fmt.Fprintln(a.stderr, "toolcell: some files of the program were not kept: with --provider subprocess --dir DIR --write DIR it writes into DIR itself, without this limit")
			code = cmp.Or(code, exitFailure)
		}
	}
	return code
}

// maxLost is how many files reportLost names.
const maxLost = 5

// reportLost prints which files were deleted with the program's directory.
func (a *app) reportLost(artifacts []codeinterp.Artifact) {
	var names []string
	for _, artifact := range artifacts {
		if artifact.Skipped == "" {
			names = append(names, fmt.Sprintf("%s (%s)", visible(artifact.Path), bytesOf(artifact.Size)))
		}
	}
	more := ""
	if n := len(names) - maxLost; n > 0 {
		names, more = names[:maxLost], fmt.Sprintf(" and %d more", n)
	}
	if len(names) > 0 {
		fmt.Fprintf(a.stderr, "toolcell: not kept: %s%s; --out DIR saves what a program writes\n", strings.Join(names, ", "), more)
	}
}

func bytesOf(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// save writes one file. No name leads out of the directory, also through links
// that are in it.
func (f *runFiles) save(artifact *codeinterp.Artifact) error {
	path := artifact.Path
	if artifact.Escaped {
		name, err := strconv.Unquote(`"` + path + `"`)
		if err != nil {
			return err
		}
		path = name
	}
	switch path = filepath.FromSlash(path); {
	case artifact.Skipped != "":
		return errors.New(artifact.Skipped)
	// Data is nil if it was too much.
	case int64(len(artifact.Data)) != artifact.Size:
		return fmt.Errorf("its %d bytes are too much to be kept", artifact.Size)
	default:
		if err := f.out.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return outdir.Write(f.out, path, artifact.Data, 0o666)
	}
}

// visible quotes a name that a program chose if it would affect a terminal.
func visible(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
