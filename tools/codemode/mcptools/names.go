package mcptools

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/tools"
)

// maxPrefix is how many bytes of a server's name a prefix has.
const maxPrefix = 32

var underscores = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_+`) })

// prefixes returns the prefix of the names of each server's tools. They depend on the
// configuration only.
func prefixes(servers []Server) []string {
	list, taken := make([]string, len(servers)), map[string]bool{}
	for i, s := range servers {
		if s.Name == "" {
			continue
		}
		base := underscores().ReplaceAllString(tools.FunctionName(strings.ToValidUTF8(s.Name, "_")), "_")
		base = strings.Trim(base[:min(len(base), maxPrefix)], "_")
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprint(base, "_", n)
		}
		taken[name], list[i] = true, name+"_"
	}
	return list
}

// names are the names in use.
type names map[string]bool

// newNames has the names of codemode's own functions.
func newNames() names { return names{"search": true, "describe": true, "display": true} }

// of returns a new name for a tool after a prefix.
func (n names) of(prefix, tool string) string {
	full := tools.FunctionName(strings.ToValidUTF8(prefix+tool, "_"))
	name := full
	for i := 2; n[name]; i++ {
		end := fmt.Sprint("_", i)
		name = full[:min(len(full), 64-len(end))] + end
	}
	n[name] = true
	return name
}
