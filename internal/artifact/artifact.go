// Package artifact describes the files that a run created or changed, within
// the bounds of a Result.
package artifact

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
)

// maxHash bounds how much is read of all files together.
const maxHash = 2 << 30

// A List collects artifacts. Its zero value is ready to use.
type List struct {
	// Data keeps the content of files, up to codeinterp.MaxArtifactData.
	Data bool

	all    []codeinterp.Artifact
	hashed int64
	held   int64
	bytes  int64 // of all files that were added, also those that are not in all
	paths  int   // bytes of the paths of all
	more   int   // files that are not in all
	lost   bool
	cut    bool // there may be files that were not added
	gone   bool // since the process that had them is
}

// Add adds a file of a size, and reads and closes it. What it says of a file that
// changes meanwhile is true of what was read. It stops soon after ctx is done.
func (l *List) Add(ctx context.Context, name string, size int64, r io.ReadCloser) {
	defer r.Close()
	a := codeinterp.Artifact{Path: name, Size: size}
	if !l.room(&a) {
		return
	}
	h, keep := sha256.New(), bytes.Buffer{}
	head := make([]byte, 0, 512)
	var n int64
	buf := make([]byte, min(max(size, 1), 128<<10-1)+1)
	for {
		if ctx.Err() != nil || l.hashed > maxHash {
			l.skip(a, "not read in time")
			return
		}
		k, err := r.Read(buf)
		n, l.hashed = n+int64(k), l.hashed+int64(k)
		h.Write(buf[:k])
		head = append(head, buf[:min(k, cap(head)-len(head))]...)
		// By what was read: the file may grow, and the size is what it had.
		if l.Data && l.held+n <= codeinterp.MaxArtifactData {
			keep.Write(buf[:k])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			l.skip(a, "unreadable")
			return
		}
	}
	a.Size, a.MIME, a.SHA256 = n, typeOf(name, head), hex.EncodeToString(h.Sum(nil))
	if l.Data && l.held+n <= codeinterp.MaxArtifactData {
		l.held += n
		// Not nil where the file is empty, which would say that there was no room
		// for it.
		a.Data = append([]byte{}, keep.Bytes()...)
	} else if l.Data {
		l.lost = true
	}
	l.count(n)
	l.all = append(l.all, a)
}

// AddHashed adds a file that was read elsewhere: its hash and its first bytes.
func (l *List) AddHashed(name string, size int64, sum string, head []byte) {
	a := codeinterp.Artifact{Path: name, Size: size}
	if !l.room(&a) {
		return
	}
	a.MIME, a.SHA256 = typeOf(name, head), sum
	l.lost = l.lost || l.Data
	l.count(size)
	l.all = append(l.all, a)
}

// Holds reports whether the content of a file of a size would be kept.
func (l *List) Holds(size int64) bool { return l.Data && size <= codeinterp.MaxArtifactData-l.held }

// count adds to the bytes of all files.
func (l *List) count(size int64) { l.bytes = Sum(l.bytes, size) }

// Sum adds sizes of files, which may be anything.
func Sum(a, b int64) int64 {
	if a+b < 0 {
		return math.MaxInt64
	}
	return a + b
}

// Kind says what a file is that is not read, empty for a regular one.
func Kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return ""
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "FIFO"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

// Skip adds a file that is not read, and why.
func (l *List) Skip(name string, size int64, reason string) {
	a := codeinterp.Artifact{Path: name, Size: size}
	if l.room(&a) {
		l.skip(a, reason)
	}
}

func (l *List) skip(a codeinterp.Artifact, reason string) {
	a.Skipped = reason
	l.count(a.Size)
	l.all = append(l.all, a)
}

// IsCache reports whether a file lies in a directory that holds no results; see
// [IsCacheDir]. A List leaves it out.
func IsCache(name string) bool {
	for dir, rest, ok := strings.Cut(name, "/"); ok; {
		if slices.Contains(cacheDirs, dir) {
			return true
		}
		dir, rest, ok = strings.Cut(rest, "/")
	}
	return false
}

// IsCacheDir reports whether a directory, by its path, holds no results of programs:
// what git, npm, Python and libraries store for themselves.
func IsCacheDir(name string) bool { return slices.Contains(cacheDirs, path.Base(name)) }

var cacheDirs = []string{".git", "node_modules", ".venv", "__pycache__", ".cache"}

// room reports whether a file is to be listed and there is room for one more.
func (l *List) room(a *codeinterp.Artifact) bool {
	if IsCache(a.Path) {
		return false
	}
	if !utf8.ValidString(a.Path) {
		q := strconv.Quote(a.Path)
		a.Path, a.Escaped = q[1:len(q)-1], true
	}
	if len(l.all) < codeinterp.MaxArtifacts && l.paths+len(a.Path) <= codeinterp.MaxArtifactPaths {
		l.paths += len(a.Path)
		return true
	}
	l.More(1, a.Size)
	return false
}

// More counts files, of so many bytes in all, that there is no room for.
func (l *List) More(files int, bytes int64) {
	if files > 0 {
		l.more += files
		l.count(bytes)
		l.lost = true
	}
}

// Cut says that not everything was looked at.
func (l *List) Cut() { l.lost, l.cut = true, true }

// Gone says that the files went with the process that had them.
func (l *List) Gone() { l.lost, l.cut, l.gone = true, true, true }

// Done returns what was added, sorted by path, and what it lacks.
func (l *List) Done() ([]codeinterp.Artifact, []codeinterp.Truncation) {
	slices.SortFunc(l.all, func(a, b codeinterp.Artifact) int { return cmp.Compare(a.Path, b.Path) })
	if !l.lost {
		return l.all, nil
	}
	t := codeinterp.Truncation{Stream: "artifacts", Bytes: l.bytes, Files: l.more, Reason: codeinterp.TruncatedByLimit}
	if l.cut {
		t.Bytes = -1
	}
	if l.gone {
		t.Reason = codeinterp.TruncatedByExit
	}
	for _, a := range l.all {
		if a.SHA256 != "" && (!l.Data || a.Data != nil) {
			t.Kept += a.Size
		}
	}
	return l.all, []codeinterp.Truncation{t}
}

// types are the usual MIME types of files that programs write.
var types = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript",
	".json": "application/json", ".jsonl": "application/jsonl", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".py": "text/x-python", ".sh": "application/x-sh", ".ipynb": "application/x-ipynb+json", ".sql": "application/sql",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".tif": "image/tiff", ".tiff": "image/tiff",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".mp4": "video/mp4", ".webm": "video/webm",
	".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".tar": "application/x-tar",
	".parquet": "application/vnd.apache.parquet", ".sqlite": "application/vnd.sqlite3", ".db": "application/vnd.sqlite3",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}

// signatures are how files begin whose names say nothing.
var signatures = []struct{ begin, mime string }{
	{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"%PDF-", "application/pdf"},
	{"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"PAR1", "application/vnd.apache.parquet"},
	{"SQLite format 3\x00", "application/vnd.sqlite3"},
}

func typeOf(name string, head []byte) string {
	if t := types[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.begin)) {
			return s.mime
		}
	}
	if !IsText(head) {
		return "application/octet-stream"
	}
	return "text/plain"
}

// IsText reports whether a file that begins with head is text: UTF-8 without NUL bytes, but
// for a character that head ends in.
func IsText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for n := range min(len(head)+1, utf8.UTFMax) {
		if utf8.Valid(head[:len(head)-n]) {
			return true
		}
	}
	return false
}
