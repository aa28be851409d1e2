package typescript

import (
	"context"
	"slices"
)

// An Outline is where a program in JavaScript has what means something else where it
// runs as a script. Of one that cannot be parsed it is what stands before the fault.
type Outline struct {
	// Imports are where import stands in calls import(...).
	Imports []int
	// This are where this stands that is the program's own. Module tells that the program
	// has import, export or import.meta, so that it is undefined.
	This   []int
	Module bool
}

// placeSize is what a place in an outline takes of memory, as its list grows.
const placeSize = 24

// Outlined returns the outline of a program, for which it keeps about as many bytes at
// most: that of one that takes more ends there. The error is ctx's.
func Outlined(ctx context.Context, source string, most int64) (*Outline, error) {
	var o *Outline
	for _, parse := range readings(source) {
		p := newParser(ctx, source)
		p.outline, p.most = &Outline{}, most
		err := p.parse(parse)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if o = p.outline; err == nil {
			break
		}
	}
	slices.Sort(o.Imports)
	o.Imports = slices.Compact(o.Imports)
	return o, nil
}

func (p *parser) noteImport(keyword token) {
	if p.outline != nil {
		p.charge(placeSize)
		p.outline.Imports = append(p.outline.Imports, keyword.start)
	}
}

func (p *parser) noteThis() {
	if p.outline != nil && p.owners == 0 {
		p.charge(placeSize)
		p.outline.This = append(p.outline.This, p.tok.start)
	}
}

func (p *parser) noteModule() {
	if p.outline != nil {
		p.outline.Module = true
	}
}
