package jupyter

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter/internal/kernel"
	"github.com/toolcell/toolcell/providers/jupyter/internal/server"
)

// pick chooses a kernelspec for each language: the server's default first, then one that is
// called like the language, then by name. The rest is LANGUAGE@KERNELSPEC.
func pick(list server.SpecList, override map[string]string) (map[string]kernel.Kind, error) {
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
	m := map[string]kernel.Kind{}
	for _, name := range names {
		s := list.Specs[name].Spec
		lang := canonical(s.Language)
		if old, ok := m[lang]; lang != "" && (!ok || rank(name, lang) < rank(old.Name, lang)) {
			m[lang] = kernel.NewKind(lang, name, s)
		}
	}
	for lang, name := range override {
		s, ok := list.Specs[name]
		if !ok {
			return nil, fmt.Errorf("%w: there is no kernelspec %q, which is asked for to run %q; the server has: %s",
				codeinterp.ErrLanguage, name, lang, strings.Join(names, ", "))
		}
		m[lang] = kernel.NewKind(lang, name, s.Spec)
	}
	offerRest(m, list)
	if len(m) == 0 {
		return nil, server.Unavailable("the server has no kernelspecs")
	}
	return m, nil
}

// offerRest offers the kernelspecs that no language has by its name alone as
// LANGUAGE@KERNELSPEC.
func offerRest(m map[string]kernel.Kind, list server.SpecList) {
	taken := map[string]bool{}
	for _, kind := range m {
		taken[kind.Name] = true
	}
	for name, s := range list.Specs {
		lang := canonical(s.Spec.Language)
		if lang == "" || taken[name] {
			continue
		}
		kind := kernel.NewKind(lang, name, s.Spec)
		kind.Language = lang + "@" + strings.ToLower(name)
		m[kind.Language] = kind
	}
}

// canonical turns a kernelspec's language into one of our names.
func canonical(language string) string {
	l := strings.ToLower(strings.TrimSpace(language))
	if name, err := codeinterp.ResolveLanguage(l, []string{"python", "javascript", "typescript", "bash"}); err == nil {
		return name
	}
	return l
}

// Describe implements driver.Runtime. What stands between the code and the
// server's host is the operator's affair and not known here; nothing stands
// between the code and whatever that host reaches, and kernels outlive a
// client that dies.
func (rt *runtime) Describe() codeinterp.Info {
	info := codeinterp.Info{
		Provider: provider,
		Isolation: codeinterp.Isolation{
			Backend:   "server",
			HostDeath: "none",
			Reasons:   []string{"code runs on the Jupyter server's host, with what its operator allows"},
		},
	}
	if dir := rt.opts.Dir; dir != "" {
		info.Isolation.Reasons = append(info.Isolation.Reasons, "all programs share a directory, and can disturb one another there")
		if path.IsAbs(dir) {
			info.Workdir = path.Clean(dir)
		}
	}
	for _, name := range rt.languages {
		info.Languages = append(info.Languages, codeinterp.LanguageInfo{
			Name: name, Runtime: rt.kinds[name].DisplayName, Contexts: true, Completion: rt.kinds[name].Completes(),
			Functions: rt.kinds[name].CanCall(), Files: rt.kinds[name].HasFiles()})
	}
	return info
}
