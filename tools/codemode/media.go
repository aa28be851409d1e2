package codemode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

const (
	maxFiles   = 64 << 20 // bytes of files that a run keeps
	maxHandles = 256      // files that a run keeps
	maxShown   = 16 << 20 // bytes of files that a run displays
)

// A handle represents an image or a file in a program.
type handle struct {
	Handle string `json:"handle,omitempty"`
	Name   string `json:"name,omitempty"`
	MIME   string `json:"mime"`
	Bytes  int    `json:"bytes"`
	Path   string `json:"path,omitempty"` // in the directory of the program
	Note   string `json:"note,omitempty"`
}

// runFiles are the files that tools have returned to a run.
type runFiles struct {
	mu      sync.Mutex
	files   []File
	paths   map[string]bool
	bytes   int
	showing int
	open    func(ctx context.Context) (codeinterp.FS, error) // nil: files have no paths
}

type runFilesKey struct{}

var mimeType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{1,20}/[a-z0-9][a-z0-9.+-]{0,80}$`) })

// keep keeps files and returns the value of a call with their handles.
func (m *Mode) keep(ctx context.Context, c codeinterp.FunctionCall, value json.RawMessage, files []File) (json.RawMessage, error) {
	if len(files) == 0 {
		return value, nil
	}
	k, ok := ctx.Value(runFilesKey{}).(*runFiles)
	if !ok {
		return nil, errors.New("a call of no run")
	}
	list := make([]handle, 0, len(files))
	for _, f := range files {
		list = append(list, k.add(ctx, f))
	}
	return withFiles(value, list)
}

// withFiles adds the handles to an object as _files. Another value, or an object that has
// this member, becomes the member value of a new object.
func withFiles(value json.RawMessage, list []handle) (json.RawMessage, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	value = bytes.TrimSpace(value)
	switch err := json.Unmarshal(value, &object); {
	case len(value) == 0 || err == nil && object != nil && len(object) == 0:
		return fmt.Appendf(nil, `{"_files":%s}`, raw), nil
	// null decodes into a map without an error.
	case err != nil || object == nil || object["_files"] != nil:
		return fmt.Appendf(nil, `{"value":%s,"_files":%s}`, value, raw), nil
	}
	// Decoding and encoding would change numbers.
	return fmt.Appendf(nil, `%s,"_files":%s}`, value[:len(value)-1], raw), nil
}

// add keeps a file if there is room, and writes it to the program's directory if it has
// one.
func (k *runFiles) add(ctx context.Context, f File) handle {
	if f.MIME = strings.ToLower(f.MIME); !mimeType().MatchString(f.MIME) {
		f.MIME = "application/octet-stream"
	}
	f.Name = fileName(f)
	h := handle{Name: f.Name, MIME: f.MIME, Bytes: len(f.Data)}
	k.mu.Lock()
	if len(k.files) >= maxHandles || k.bytes+len(f.Data) > maxFiles {
		k.mu.Unlock()
		h.Note = "not kept: the files of this run are too many or too large"
		return h
	}
	k.files = append(k.files, f)
	k.bytes += len(f.Data)
	h.Handle = handleOf(len(k.files) - 1)
	name := f.Name
	// Two files may have the same name.
	for k.paths[name] {
		name = h.Handle + "_" + name
	}
	k.paths[name] = true
	k.mu.Unlock()
	if k.open != nil {
		if err := k.write(ctx, name, f.Data); err != nil {
			h.Note = "it could not be written to a file"
		} else {
			h.Path = path.Join(filesDir, name)
		}
	}
	return h
}

// filesDir is the directory of files that tools return.
const filesDir = "tool_files"

func (k *runFiles) write(ctx context.Context, name string, data []byte) error {
	fsys, err := k.open(ctx)
	if err != nil {
		return err
	}
	if err := fsys.MkdirAll(filesDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return codeinterp.WriteFile(fsys, path.Join(filesDir, name), strings.NewReader(string(data)), 0o644)
}

var unusual = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// fileName returns a name for a file without directories and special characters.
func fileName(f File) string {
	name := unusual().ReplaceAllString(path.Base(strings.ReplaceAll(f.Name[:min(len(f.Name), 1<<10)], `\`, "/")), "_")
	name = strings.Trim(name[max(0, len(name)-80):], "._")
	if name != "" {
		return name
	}
	return strings.ReplaceAll(f.MIME, "/", ".")
}

// display shows a kept file among the outputs of the run.
func display(ctx context.Context, h handleArgs) (string, error) {
	k, ok := ctx.Value(runFilesKey{}).(*runFiles)
	if !ok {
		return "", errors.New("a call of no run")
	}
	f, err := k.toShow(h.Handle)
	if err != nil {
		return "", err
	}
	out := codeinterp.Output{Kind: codeinterp.Display, Bundle: []codeinterp.Representation{
		{MIME: f.MIME, Data: bytes.Clone(f.Data)}, {MIME: "text/plain", Data: []byte(f.Name)}}}
	show, _ := ctx.Value(showKey{}).(func(codeinterp.Output) bool)
	if show == nil {
		return "", &codeinterp.FunctionError{Message: "the provider does not show outputs of functions"}
	}
	show(out)
	return "it is shown", nil
}

// toShow returns the file of a handle and counts it as shown.
func (k *runFiles) toShow(name string) (File, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, f := range k.files {
		if handleOf(i) != name {
			continue
		}
		if k.showing+len(f.Data) > maxShown {
			return File{}, &codeinterp.FunctionError{Message: "the program has displayed too much"}
		}
		k.showing += len(f.Data)
		return f, nil
	}
	return File{}, &codeinterp.FunctionError{Message: fmt.Sprintf("there is no handle %.80q in this run", name)}
}

func handleOf(i int) string { return fmt.Sprint("file_", i+1) }

// showKey is the key of the function that shows an output during the run.
type showKey struct{}

// handleArgs are the arguments of display. Programs also pass an entry of _files, whose
// other members have no meaning.
type handleArgs struct {
	Handle string `json:"handle"`
	Name   any    `json:"name,omitempty"`
	MIME   any    `json:"mime,omitempty"`
	Bytes  any    `json:"bytes,omitempty"`
	Path   any    `json:"path,omitempty"`
	Note   any    `json:"note,omitempty"`
}

var displayer = sync.OnceValue(func() function {
	f := tools.Func("display", "Shows the image or file behind a handle to you, where the program's output is.", display)
	next := f.Call
	f.Call = func(ctx context.Context, c codeinterp.FunctionCall) (json.RawMessage, error) {
		return next(context.WithValue(ctx, showKey{}, c.Show), c)
	}
	return function{Function: f, tool: "display"}
})
