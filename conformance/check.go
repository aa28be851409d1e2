package conformance

import "slices"

// A check is one clause of the contract and how it is tried.
type check struct {
	name   string
	row    int    // of the contract; see Clause.Row
	clause string // quoted in the failure
	scope  scope

	// needs are the features without which the clause does not apply.
	needs []Feature
	// proves is the feature that works if the check passes: the check is tried
	// where the feature is declared as lacking, and has to fail there.
	proves Feature
	// uses reports whether the language has the programs; nil means always.
	uses func(*Programs) bool
	// own is set if the check closes its interpreter.
	own bool

	// run tries the clause; see failf.
	run func(*env)
}

// A scope says how a check is tried.
type scope int

const (
	once      scope = iota // once per interpreter
	everyRun               // per language, in a context, or by RunCode if there are no contexts
	stateless              // per language, by RunCode
	stateful               // per language, with contexts
)

// A group is a set of checks that run code in one language and one way.
type group struct {
	language string
	way      way
}

// A way is how a group runs code.
type way int

const (
	interpreterWay way = iota // checks of scope once
	runCodeWay                // stateless, and everyRun if there are no contexts
	inContextWay              // everyRun
	contextsWay               // stateful
)

func (g group) name() string {
	return map[way]string{
		interpreterWay: "interpreter",
		runCodeWay:     g.language + "/RunCode",
		inContextWay:   g.language + "/RunInContext",
		contextsWay:    g.language + "/contexts",
	}[g.way]
}

// checks lists the whole contract, by concern.
func checks() []check {
	return slices.Concat(presenceChecks(), inputChecks(), outcomeChecks(), errorChecks(), streamChecks(), callbackChecks(),
		outputChecks(), valueChecks(), modelChecks(), timeoutChecks(), stoppedChecks(), functionChecks(), fileChecks(), commandChecks(), terminalChecks(),
		surroundingsChecks(), isolationChecks(), reachChecks(), contextChecks(), stateLostChecks(), managerChecks(), completeChecks(), forkChecks(), attachChecks(),
		lifecycleChecks(), lateChecks(), hammerChecks(), leakChecks())
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
	return slices.DeleteFunc(slices.Clone(s.all), func(c check) bool {
		switch c.scope {
		case once:
			return g.way != interpreterWay
		case everyRun:
			return g.way != inContextWay && (g.way != runCodeWay || s.cfg.Stateful)
		case stateless:
			return g.way != runCodeWay
		default:
			return g.way != contextsWay
		}
	})
}

// exempt returns why a check does not apply to the group's language, or an empty
// string if it does.
func (s *suite) exempt(g group, c check) string {
	if s.hung >= maxHangs {
		return "not tried: too many cases before it did not return"
	}
	p := s.programs[g.language]
	if c.uses != nil && !c.uses(&p) {
		return "no program for this in " + g.language
	}
	for _, f := range c.needs {
		if f == Manager && !s.cfg.Stateful {
			return "not stateful"
		}
		// A check that proves the feature is tried, and has to fail; see attempt.
		if f != c.proves && s.cfg.lacks(f, g.language) {
			return "declared in Lacks: " + string(f)
		}
	}
	return ""
}

// variables reports whether programs can set, print and look for variables.
func variables(p *Programs) bool { return p.Set != nil && p.Get != nil && p.Has != nil }

// files reports whether programs can write and read files.
func files(p *Programs) bool { return p.WriteFile != nil && p.ReadFile != nil }
