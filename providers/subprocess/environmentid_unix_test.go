//go:build unix

package subprocess

import "testing"

// TestEnvironmentID protects "EnvironmentOptions.Exact: Packages are all that is
// installed": no two requests share an environment.
func TestEnvironmentID(t *testing.T) {
	requests := map[string]struct {
		packages []string
		exact    bool
		beside   []string
	}{
		"packages":             {[]string{"attrs==25.3.0"}, false, nil},
		"exact":                {[]string{"attrs==25.3.0"}, true, nil},
		"named exactly":        {[]string{"attrs==25.3.0", "exactly"}, false, nil},
		"named as a flag":      {[]string{"attrs==25.3.0", "true"}, false, nil},
		"beside":               {[]string{"attrs==25.3.0"}, false, []string{"six==1.17.0"}},
		"named beside":         {[]string{"attrs==25.3.0", "beside", "six==1.17.0"}, false, nil},
		"two packages":         {[]string{"attrs==25.3.0", "six==1.17.0"}, false, nil},
		"one of the two, both": {[]string{"attrs==25.3.0six==1.17.0"}, false, nil},
	}
	ids := map[string]string{}
	for name, r := range requests {
		id := environmentID("/usr/bin/python3", "CPython 3.12.1", r.packages, r.exact, r.beside)
		if other, ok := ids[id]; ok {
			t.Errorf("%s and %s share the ID %s", name, other, id)
		}
		ids[id] = name
	}
}
