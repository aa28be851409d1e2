//go:build !(386 || arm || s390x)

package quickjs

import "github.com/toolcell/toolcell/providers/inmemory/engine"

// positions are those of the program in progress and of the latest before it, as
// far as they were made from other sources.
type positions struct {
	of    map[string]func(line, column int) (int, int) // by the program's name
	order []mapped                                     // the oldest first
	size  int64

	required map[string]bool // files that were compiled behind commonStart
}

type mapped struct {
	name string
	size int64
}

func (ps *positions) add(p engine.Program) {
	if ps.of == nil {
		ps.of = map[string]func(int, int) (int, int){}
	}
	ps.of[p.Name] = p.Position
	ps.order = append(ps.order, mapped{p.Name, p.PositionSize})
	ps.size += p.PositionSize
}

// moved is add for a file, or once more for the program in progress.
func (ps *positions) moved(name string, position func(line, column int) (int, int), size int64) {
	ps.add(engine.Program{Name: name, Position: position, PositionSize: size})
}

// maxRequired is how many files of require have the columns of their first line.
const maxRequired = 1 << 10

func (ps *positions) require(file string) {
	if ps.required == nil {
		ps.required = map[string]bool{}
	}
	if len(ps.required) < maxRequired {
		ps.required[file] = true
	}
}

// at returns where in the source of a file the engine's position is.
func (ps *positions) at(file string, row, column int) (int, int) {
	// The function's beginning stands before the file's first line.
	if row == 1 && column > len(commonStart) && ps.required[file] {
		column -= len(commonStart)
	}
	if position := ps.of[file]; position != nil {
		return position(row, max(column, 1))
	}
	return row, column
}

// trim drops the oldest, so that what a context keeps from run to run is little.
func (ps *positions) trim() {
	for len(ps.order) >= maxMapped || ps.size > maxMappedSize {
		delete(ps.of, ps.order[0].name)
		ps.size -= ps.order[0].size
		ps.order = ps.order[1:]
	}
}
