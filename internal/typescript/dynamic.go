package typescript

import (
	"context"
	"slices"
)

// DynamicImports returns where import stands in a program's calls import(...), in
// order. Of a program that cannot be parsed it returns those before the fault. The
// program may be JavaScript. The error is ctx's.
func DynamicImports(ctx context.Context, source string) ([]int, error) {
	parses := []func(*parser){(*parser).program}
	if mayBeObject(source) {
		parses = []func(*parser){(*parser).expressionProgram, (*parser).program}
	}
	var found []int
	for _, parse := range parses {
		p := newParser(ctx, source)
		err := p.parse(parse)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if found = p.imports; err == nil {
			break
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// dynamicImport notes a call of import.
func (p *parser) dynamicImport(keyword token) {
	p.charge(8)
	p.imports = append(p.imports, keyword.start)
}
