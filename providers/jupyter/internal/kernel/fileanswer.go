package kernel

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
)

// MaxFileEntries is how many entries one answer carries, PAGE in files.py.
const MaxFileEntries = 5000

const (
	maxSHA  = 64  // the length of a hash in hexadecimal digits
	maxHead = 512 // what comes with a hash of a file's content
)

var errFileAnswer = errors.New("an answer about files that files.py does not give")

// decodeFileAnswer reads an answer, which a program may have made up.
func decodeFileAnswer(data []byte) (*FileAnswer, error) {
	var a FileAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if len(a.Entries) > MaxFileEntries || a.Size < 0 || a.At < 0 || a.More < 0 || a.Rest < 0 || len(a.SHA) > maxSHA {
		return nil, errFileAnswer
	}
	for i := range a.Entries {
		if a.Entries[i].Size < 0 {
			return nil, errFileAnswer
		}
	}
	return &a, nil
}

// fits reports whether files.py answers q like this: with no more data than was
// asked for, a hash that is one, and a list of names.
func (a *FileAnswer) fits(q *FileRequest) bool {
	if _, err := hex.DecodeString(a.SHA); err != nil || len(a.Data) > max(q.Size, maxHead) {
		return false
	}
	return q.Op != "list" || !slices.ContainsFunc(a.Entries, func(e FileEntry) bool {
		name := string(e.Name)
		return name == "" || name == "." || name == ".." || bytes.ContainsAny(e.Name, "/\x00")
	})
}
