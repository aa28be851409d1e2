package codemode

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// maxFound is how many functions a search finds.
const maxFound = 20

type query struct {
	Query string `json:"query"`
}

type nameArgs struct {
	Name string `json:"name"`
}

type match struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// finders returns the functions that find those of all.
func finders(all []function, d dialect) []function {
	search := func(ctx context.Context, q query) ([]match, error) { return find(ctx, all, q.Query) }
	declare := func(_ context.Context, n nameArgs) (string, error) {
		i := slices.IndexFunc(all, func(f function) bool { return f.Name == n.Name || f.tool == n.Name })
		if i < 0 {
			return "", &codeinterp.FunctionError{Message: fmt.Sprintf("there is no function %.80q; use tools.search", n.Name)}
		}
		if why := all[i].refused; why != "" {
			return "", &codeinterp.FunctionError{Message: fmt.Sprintf("%s cannot be called by programs: %s", all[i].Name, comment(why, 300))}
		}
		text, _ := declarations(all[i:i+1], d, math.MaxInt)
		return text, nil
	}
	return []function{
		{Function: tools.Func("search", "Finds functions by words of their names and descriptions.", search), tool: "search"},
		{Function: tools.Func("describe", "Returns the declaration of a function.", declare), tool: "describe"},
	}
}

// find returns the functions that have the words of a query, those that have more
// of them first.
func find(ctx context.Context, all []function, query string) ([]match, error) {
	words := strings.FieldsFunc(strings.ToLower(query[:min(len(query), 1<<10)]), func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127)
	})
	type hit struct{ at, score int }
	var hits []hit
	for i := range all {
		if ctx.Err() != nil { // hundreds of words in megabytes of descriptions take a second
			return nil, context.Cause(ctx)
		}
		name, about := strings.ToLower(all[i].Name+" "+all[i].tool), strings.ToLower(all[i].Description)
		score := 0
		for _, w := range words {
			if strings.Contains(name, w) {
				score += 3
			}
			if strings.Contains(about, w) {
				score++
			}
		}
		if score > 0 {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	list := []match{}
	for _, h := range hits[:min(len(hits), maxFound)] {
		about := comment(all[h.at].Description, 200)
		if why := all[h.at].refused; why != "" {
			about += " (cannot be called by programs: " + comment(why, 200) + ")"
		}
		list = append(list, match{all[h.at].Name, strings.TrimSpace(about)})
	}
	return list, nil
}
