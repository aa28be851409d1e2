//go:build unix

package interpreter

import (
	"encoding/hex"
	"errors"
	"strings"
)

// pythonQuestion prints a Python's version, place and packages as lines in
// hexadecimal, since file names may hold anything. It then compiles the sources on
// standard input. It is asked with -S, finds its packages itself, and runs none of their
// .pth files: these can lead to where programs write.
const pythonQuestion = `import sys,marshal,site
site.addpackage=lambda *a,**k:None
site.execsitecustomize=site.execusercustomize=lambda:None
site.main()
v=sys.version_info
import os
have=set()
for d in sys.path:
 try:have|={n for n in os.listdir(d) if n.endswith('.dist-info') or n.endswith('.egg-info')}
 except OSError:pass
def say(*a):print('\0'.join(a).encode('utf-8','surrogateescape').hex())
say('%d.%d.%d'%v[:3]);say(sys.executable);say(sys.prefix,*{sys.base_prefix,sys.exec_prefix,sys.base_exec_prefix}-{sys.prefix});say(os.path.dirname(os.__file__),*sys.path);say(*sorted(have));sys.stdout.flush()
given=sys.stdin.buffer.read()
if v>=(3,9)and given:
 def code(s,flags=0):return compile(s,'<toolcell>','exec',flags,True)
 for s in given.split(b'\0'):
  s,magics,now=s.split(b'\1');t=code(s,0x400);names=[getattr(n,'name','')for n in t.body];later=[]
  for n in t.body[:]:
   if now and type(n).__name__ in('FunctionDef','AsyncFunctionDef')and names.count(n.name)==1 and n.name.encode() not in now.split():t.body.remove(n);later.append(n)
  parts={'names':[n.name for n in later],'later':marshal.dumps(code(type(t)(later,[]))),'magics':marshal.dumps(code(magics))}
  b=marshal.dumps((code(t),parts));sys.stdout.buffer.write(b'%08x'%len(b)+b)`

// Python describes an installed Python.
type Python struct {
	Version    string
	Executable string   // sys.executable
	Prefixes   []string // at least one
	Path       []string // the standard library's directory, then sys.path
	Metadata   []string // names of the directories that describe packages
}

// AskPython starts a Python as the host and returns its description. No package of it
// runs. Of sources, which is what pythonQuestion reads, printed has the compiled code.
func AskPython(path, sources string) (about Python, printed string, err error) {
	out, err := Ask(path, []string{"-I", "-S", "-X", "utf8", "-c", pythonQuestion}, sources)
	if err != nil {
		return about, "", err
	}
	var fields [5][]string
	for i := range fields {
		line, after, _ := strings.Cut(out, "\n")
		text, err := hex.DecodeString(line)
		if err != nil || i < 1 && len(text) == 0 {
			return about, "", errors.New("is no Python")
		}
		fields[i], out = strings.Split(string(text), "\x00"), after
	}
	return Python{fields[0][0], fields[1][0], fields[2], fields[3], fields[4]}, out, nil
}
