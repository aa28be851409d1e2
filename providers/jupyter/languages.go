package jupyter

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// specList is the server's answer to GET api/kernelspecs.
type specList struct {
	Default string `json:"default"`
	Specs   map[string]struct {
		Name string `json:"name"`
		Spec spec   `json:"spec"`
	} `json:"kernelspecs"`
}

// spec is what a kernelspec says of its kernel.
type spec struct {
	Argv          []string `json:"argv"`
	DisplayName   string   `json:"display_name"`
	Language      string   `json:"language"`
	InterruptMode string   `json:"interrupt_mode"`
}

// A runtime is the kernelspec that serves a language.
type runtime struct {
	language string
	name     string // of the kernelspec
	spec
	dialect *dialect
}

// runtimes maps the languages that the server's kernelspecs serve.
func (c *client) runtimes(ctx context.Context) (map[string]runtime, error) {
	var list specList
	err := c.await(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "api/kernelspecs", nil, &list)
	})
	if err != nil {
		return nil, err
	}
	return pick(list, c.opts.Kernels)
}

// pick chooses a kernelspec for each language: the server's default first,
// then one that is called like the language, then by name. A kernel for
// TypeScript serves JavaScript, which is a part of it, where no other does.
func pick(list specList, override map[string]string) (map[string]runtime, error) {
	names := slices.Sorted(maps.Keys(list.Specs))
	rank := func(name, language string) int {
		switch {
		case name == list.Default:
			return 0
		case name == language || name == language+"3":
			return 1
		}
		return 2
	}
	m := map[string]runtime{}
	for _, name := range names {
		s := list.Specs[name].Spec
		lang := canonical(s.Language)
		if old, ok := m[lang]; lang != "" && (!ok || rank(name, lang) < rank(old.name, lang)) {
			m[lang] = newRuntime(lang, name, s)
		}
	}
	if ts, ok := m["typescript"]; ok {
		if _, ok := m["javascript"]; !ok {
			m["javascript"] = newRuntime("javascript", ts.name, ts.spec)
		}
	}
	for lang, name := range override {
		s, ok := list.Specs[name]
		if !ok {
			return nil, fmt.Errorf("%w: Options.Kernels names kernelspec %q for %q; the server has: %s",
				codeinterp.ErrLanguage, name, lang, strings.Join(names, ", "))
		}
		m[lang] = newRuntime(lang, name, s.Spec)
	}
	if len(m) == 0 {
		return nil, unavailable("the server has no kernelspecs")
	}
	return m, nil
}

func newRuntime(language, name string, s spec) runtime {
	return runtime{language: language, name: name, spec: s, dialect: dialectOf(language, s)}
}

// canonical turns a kernelspec's language into one of our names.
func canonical(language string) string {
	l := strings.ToLower(strings.TrimSpace(language))
	if name, err := codeinterp.ResolveLanguage(l, []string{"python", "javascript", "typescript", "bash"}); err == nil {
		return name
	}
	return l
}
