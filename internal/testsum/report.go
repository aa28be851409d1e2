package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// report is what is to be read at the end, and whether anything failed.
func (p *passes) report() (text string, failed bool) {
	var b strings.Builder
	p.skipped(&b)
	for _, n := range p.order {
		if t := p.tests[n]; t.score != "" {
			fmt.Fprintf(&b, "\n%s: %s\n", n, t.score)
		}
	}
	var twice, bad []name
	for _, n := range p.order {
		switch t := p.tests[n]; {
		case t.failed:
			bad = append(bad, n)
		case t.again:
			twice = append(twice, n)
		}
	}
	section(&b, "passed at a second try only", innermost(twice))
	section(&b, "FAILED", innermost(bad))
	if len(bad) == 0 {
		fmt.Fprintf(&b, "\nno test failed\n")
	}
	return b.String(), len(bad) > 0
}

// skipped lists what no pass tried, by reason, the most frequent first.
func (p *passes) skipped(b *strings.Builder) {
	reasons, tests := map[string][]name{}, 0
	add := func(why string, n name) {
		why = cmp.Or(why, "no reason given")
		reasons[why] = append(reasons[why], n)
	}
	for _, n := range p.order {
		t := p.tests[n]
		if !t.ran && t.why != "" {
			add(t.why, n)
			tests++
		}
		for _, why := range t.parts {
			add(why, n)
		}
	}
	list := make([]string, 0, len(reasons))
	for why := range reasons {
		list = append(list, why)
	}
	slices.SortFunc(list, func(x, y string) int {
		return cmp.Or(len(reasons[y])-len(reasons[x]), strings.Compare(x, y))
	})
	fmt.Fprintf(b, "\nskipped: %d tests, for %d reasons\n", tests, len(list))
	for _, why := range list {
		fmt.Fprintf(b, "  %s\n", why)
		for _, line := range together(reasons[why]) {
			fmt.Fprintf(b, "      %s\n", line)
		}
	}
}

// together tells tests by the function that they are subtests of.
func together(list []name) []string {
	var lines []string
	of := map[name][]name{}
	var tops []name
	for _, n := range list {
		top := n
		top.test, _, _ = strings.Cut(n.test, "/")
		if of[top] == nil {
			tops = append(tops, top)
		}
		of[top] = append(of[top], n)
	}
	for _, top := range tops {
		line := of[top][0].String()
		if more := len(of[top]) - 1; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, line)
	}
	return lines
}

// innermost leaves out packages and tests which failed for a test within them.
func innermost(list []name) []name {
	return slices.DeleteFunc(slices.Clone(list), func(n name) bool {
		return slices.ContainsFunc(list, func(m name) bool {
			return m != n && m.pkg == n.pkg && (n.test == "" || strings.HasPrefix(m.test, n.test+"/"))
		})
	})
}

func section(b *strings.Builder, title string, list []name) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, n := range list {
		fmt.Fprintf(b, "  %s\n", n)
	}
}
