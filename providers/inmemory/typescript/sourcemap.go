package typescript

import (
	"encoding/json"
	"errors"
	"sort"
	"strings"
)

// A sourceMap tells where the text of a translated program comes from
// (Source Map Revision 3). Lines and columns count from 0.
type sourceMap struct {
	lines [][]segment // by generated line, sorted by column
}

// A segment maps what begins at a generated column.
type segment struct{ column, line, source int32 }

var errSourceMap = errors.New("malformed source map")

func parseMap(b []byte) (*sourceMap, error) {
	var doc struct {
		Mappings string `json:"mappings"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, errSourceMap
	}
	m := &sourceMap{}
	var line, column int
	for generated := range strings.SplitSeq(doc.Mappings, ";") {
		var segments []segment
		start := 0
		for part := range strings.SplitSeq(generated, ",") {
			if part == "" {
				continue
			}
			fields, err := decode(part)
			if err != nil {
				return nil, err
			}
			start += fields[0]
			if len(fields) >= 4 {
				line += fields[2]
				column += fields[3]
				segments = append(segments, segment{int32(start), int32(line), int32(column)})
			}
		}
		m.lines = append(m.lines, segments)
	}
	return m, nil
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decode reads the base 64 VLQ numbers of a segment.
func decode(s string) ([]int, error) {
	var fields []int
	n, shift := 0, 0
	for i := range len(s) {
		d := strings.IndexByte(base64, s[i])
		if d < 0 || shift > 30 {
			return nil, errSourceMap
		}
		n |= (d & 31) << shift
		shift += 5
		if d&32 != 0 {
			continue
		}
		if n&1 != 0 {
			n = -(n >> 1)
		} else {
			n >>= 1
		}
		fields = append(fields, n)
		n, shift = 0, 0
	}
	if shift != 0 || len(fields) == 0 {
		return nil, errSourceMap
	}
	return fields, nil
}

// position returns where a generated position, both counted from 1, comes
// from; the position itself where that is unknown.
func (m *sourceMap) position(line, column int) (int, int) {
	if line < 1 || line > len(m.lines) {
		return line, column
	}
	segments := m.lines[line-1]
	i := sort.Search(len(segments), func(i int) bool { return int(segments[i].column) > column-1 }) - 1
	if i < 0 {
		if len(segments) == 0 {
			return line, column
		}
		i = 0
	}
	return int(segments[i].line) + 1, int(segments[i].source) + 1
}
