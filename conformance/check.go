package conformance

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
)

// A check is one clause of the contract and how it is tried.
type check struct {
	name   string
	clause string // quoted in the failure, so that it says which rule broke
	scope  scope

	// needs are the features without which the clause does not apply.
	needs []Feature
	// proves is the feature that works if this check passes: it is what is
	// tried where the feature is declared as lacking.
	proves Feature
	// uses reports whether the language has the programs; nil means always.
	uses func(*Programs) bool
	// own gets the check an interpreter that no other check uses.
	own bool
	// slow says that a provider that keeps the clause takes seconds to show it:
	// it is not tried where the suite is brief.
	slow bool
	// outage says that the check needs Config.Outage.
	outage bool
	// danger says how a provider that breaks the clause ends the process that
	// tests it. Such checks come last, and are announced.
	danger string

	// run returns nil, or what was got and what was wanted. Its ctx ends with
	// the case.
	run func(ctx context.Context, e *env) error
}

// A scope says in which groups a check is tried.
type scope int

const (
	once      scope = iota // once per interpreter
	everyRun               // by RunCode and by RunInContext, per language
	stateless              // by RunCode, per language
	stateful               // with contexts, per language
)

// A group is a set of checks that are tried with one language, one way.
type group struct {
	language string
	way      way
}

// A way is how a group runs code.
type way int

const (
	interpreterWay way = iota // the checks of scope once
	runCodeWay                // everyRun and stateless, by RunCode
	inContextWay              // everyRun, by RunInContext
	contextsWay               // stateful
)

func (g group) name() string {
	switch g.way {
	case runCodeWay:
		return g.language + "/RunCode"
	case inContextWay:
		return g.language + "/RunInContext"
	case contextsWay:
		return g.language + "/contexts"
	}
	return "interpreter"
}

// checks lists the whole contract, by concern.
func checks() []check {
	return slices.Concat(
		presenceChecks(),
		languageChecks(),
		inputChecks(),
		outcomeChecks(),
		errorChecks(),
		streamChecks(),
		callbackChecks(),
		outputChecks(),
		valueChecks(),
		displayChecks(),
		timeoutChecks(),
		stoppedChecks(),
		cancelChecks(),
		functionChecks(),
		functionLimitChecks(),
		fileChecks(),
		fileOpChecks(),
		oddFileChecks(),
		artifactChecks(),
		commandChecks(),
		surroundingsChecks(),
		isolationChecks(),
		reachChecks(),
		contextChecks(),
		stateLostChecks(),
		queueChecks(),
		managerChecks(),
		completeChecks(),
		closeChecks(),
		concurrencyChecks(),
		hammerChecks(),
		modelChecks(),
		identityChecks(),
		lateChecks(),
		lifecycleChecks(),
		apartChecks(),
		momentChecks(),
		lossChecks(),
		describedChecks(),
		awayChecks(),
		leakChecks(),
	)
}

// groups lists the groups that apply.
func (s *suite) groups() []group {
	list := []group{{s.languages[0], interpreterWay}}
	for _, l := range s.languages {
		list = append(list, group{l, runCodeWay})
		if s.cfg.Stateful {
			list = append(list, group{l, inContextWay}, group{l, contextsWay})
		}
	}
	return list
}

// checks lists the checks of a group.
func (s *suite) checks(g group) []check {
	thrifty := s.cfg.Thrifty && s.cfg.Stateful
	return slices.DeleteFunc(slices.Clone(s.all), func(c check) bool {
		switch c.scope {
		case once:
			return g.way != interpreterWay
		case everyRun:
			return g.way != inContextWay && (g.way != runCodeWay || thrifty)
		case stateless:
			return g.way != runCodeWay
		default:
			return g.way != contextsWay
		}
	})
}

// A part is a group's checks, or those of them that may end the process.
type part struct {
	group
	name   string
	checks []check
}

// parts lists what is to be tried: the groups, and at last what may end the
// process, so that all else is known by then.
func (s *suite) parts() []part {
	var list, last []part
	for _, g := range s.groups() {
		p, danger := part{group: g, name: g.name()}, part{group: g, name: "last/" + g.name()}
		for _, c := range s.checks(g) {
			if !s.sampled(g, c) || !s.cfg.Share.takes(s.index(c)) {
				continue
			}
			if c.danger == "" {
				p.checks = append(p.checks, c)
			} else {
				danger.checks = append(danger.checks, c)
			}
		}
		list = append(list, p)
		if len(danger.checks) > 0 {
			last = append(last, danger)
		}
	}
	return append(list, last...)
}

// index is the place of a check among all.
func (s *suite) index(c check) int {
	return slices.IndexFunc(s.all, func(o check) bool { return o.name == c.name })
}

// sampled reports whether a check is for the group's language: where the suite
// is brief, each is tried with one of the languages that have a program for it.
func (s *suite) sampled(g group, c check) bool {
	if !s.cfg.Brief {
		return true
	}
	if g.way == interpreterWay || c.slow {
		return !c.slow
	}
	able := slices.DeleteFunc(slices.Clone(s.languages), func(l string) bool {
		return s.exempt(group{l, g.way}, c) != ""
	})
	if len(able) == 0 {
		return true // which language is to say why
	}
	h := fnv.New64a()
	fmt.Fprint(h, s.cfg.Seed, c.name)
	return able[h.Sum64()%uint64(len(able))] == g.language
}

// exempt returns why a check does not apply to the group's language, empty if
// it does.
func (s *suite) exempt(g group, c check) string {
	if s.gaveUp() {
		return "not tried: too many cases before it did not return"
	}
	p := s.programs[g.language]
	if c.outage && s.cfg.Outage == nil {
		return "no Outage: what runs the programs cannot be away"
	}
	if c.uses != nil && !c.uses(&p) {
		return "not written in " + g.language + ": " + unwritten(p, c.uses)
	}
	for _, f := range c.needs {
		if f == Manager && !s.cfg.Stateful {
			return "not stateful"
		}
		// What a check proves is tried all the same, and is to fail; see attempt.
		if f != c.proves && s.cfg.lacks(f, g.language) {
			return "declared in Lacks: " + string(f)
		}
	}
	return ""
}
