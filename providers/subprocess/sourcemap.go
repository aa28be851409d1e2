package subprocess

import (
	"encoding/json"
	"sort"
	"strings"
)

// A lineTable maps generated positions to original ones: for each generated
// line, in order of columns, all counted from 0.
type lineTable [][]mapping

type mapping struct{ column, line, original int }

// parseSourceMap reads a source map, version 3, of one source. What it cannot
// read it leaves out.
func parseSourceMap(b []byte) lineTable {
	var m struct {
		Mappings string `json:"mappings"`
	}
	if json.Unmarshal(b, &m) != nil {
		return lineTable{}
	}
	t := lineTable{}
	line, column := 0, 0
	for group := range strings.SplitSeq(m.Mappings, ";") {
		var list []mapping
		at := 0
		for segment := range strings.SplitSeq(group, ",") {
			v := decodeVLQ(segment)
			if len(v) > 0 {
				at += v[0]
			}
			if len(v) >= 4 {
				line += v[2]
				column += v[3]
				list = append(list, mapping{column: at, line: line, original: column})
			}
		}
		t = append(t, list)
	}
	return t
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeVLQ reads the numbers of a segment.
func decodeVLQ(s string) []int {
	var list []int
	n, shift := 0, 0
	for i := range len(s) {
		d := strings.IndexByte(base64Digits, s[i])
		if d < 0 || shift > 30 {
			return list
		}
		n |= (d & 31) << shift
		shift += 5
		if d&32 != 0 {
			continue
		}
		if n&1 != 0 {
			n = -n
		}
		list = append(list, n/2)
		n, shift = 0, 0
	}
	return list
}

// original returns the original position of a generated one, both counted
// from 1. Where nothing is known it returns what it was given.
func (t lineTable) original(line, column int) (int, int) {
	if line < 1 || line > len(t) || len(t[line-1]) == 0 {
		return line, column
	}
	list := t[line-1]
	i := sort.Search(len(list), func(i int) bool { return list[i].column > column-1 })
	m := list[max(i-1, 0)]
	return m.line + 1, m.original + 1 + max(column-1-m.column, 0)
}
