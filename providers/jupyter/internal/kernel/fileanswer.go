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

// FileEntries are the entries of an answer, MaxFileEntries at most.
type FileEntries []FileEntry

// UnmarshalJSON implements json.Unmarshaler. It stops at the first entry too
// many: an entry of two bytes takes forty times as much when it is decoded.
func (l *FileEntries) UnmarshalJSON(data []byte) error {
	*l = nil
	dec := json.NewDecoder(bytes.NewReader(data))
	switch begin, err := dec.Token(); {
	case err != nil:
		return err
	case begin == nil:
		return nil
	case begin != json.Delim('['):
		return errFileAnswer
	}
	for dec.More() {
		if len(*l) == MaxFileEntries {
			return errFileAnswer
		}
		var e FileEntry
		if err := dec.Decode(&e); err != nil {
			return err
		}
		*l = append(*l, e)
	}
	return nil
}

// decodeFileAnswer reads an answer, which a program may have made up.
func decodeFileAnswer(data []byte) (*FileAnswer, error) {
	var a FileAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if a.Size < 0 || a.At < 0 || a.More < 0 || a.Rest < 0 || len(a.SHA) > maxSHA {
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
