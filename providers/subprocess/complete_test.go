//go:build real && unix

package subprocess_test

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/completetest"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// pythonState is what the rows below complete with. Whatever is called of it says so.
const pythonState = `
import sys, os.path, json
def called(*a): print('CALLED', flush=True); raise SystemExit
class Base:
    inherited = 1
    def method(self): pass
class Thing(Base):
    __slots__ = ('slot',)
    def __init__(self): self.number_one = 5; self.inner = Inner(); self.slot = [1]
    prop = property(called)
    static = staticmethod(len)
    def __dir__(self): called()
    def __getattr__(self, name): called()
class Inner: deepest = 'x'
class Shadow:
    __dict__ = property(called)
class Meta(type):
    def __getattribute__(cls, name): called()
class Strange(metaclass=Meta): visible = 1
class Descr:
    def __get__(self, *a): called()
class Owner: d = Descr()
thing, shadow, owner, größe = Thing(), Shadow(), Owner(), 3
globals()['\x1b[31mred'] = globals()['no identifier'] = 1
len = called
import types, calendar
table = types.SimpleNamespace(price=1)
class Row(calendar.Calendar):
    def __dir__(self): called()
row = Row()
`

// TestCompletePython: what is there, without calling any of it.
func TestCompletePython(t *testing.T) {
	completetest.Wants(t, open(t, subprocess.Options{}), "python", pythonState, []completetest.Row{
		{"thi", "thing"},
		{"x = [thi", "thing"},
		{"Thin", "Thing"},
		{"größ", "größe"},
		{"thing.num", "number_one"},
		{"thing.me", "method"},
		{"thing.inh", "inherited"},
		{"thing.inner.de", "deepest"},
		{"thing.slot.app", "append"},
		{"thing.prop.f", ""},
		{"thing.nothing.f", ""},
		{"thing.static.__na", "__name__"},
		{"thing.number_one.bit_l", "bit_length"},
		{"Thing.inh", "inherited"},
		{"Strange.vis", "visible"},
		{"shadow.x", ""},
		{"owner.d.x", ""},
		{"json.dum", "dump dumps"},
		{"os.path.joi", "join"},
		{"'a'.joi", ""},
		{"f().x", ""},
		{"table.pri", "price"},
		{"row.itermonthda", "itermonthdates itermonthdays itermonthdays2 itermonthdays3 itermonthdays4"},
		{"isinst", "isinstance"},
		{"whi", "while"},
		{"red", ""},
		{"no ident", ""},
		{"thing.__cla", "__class__"},
		{strings.Repeat("#", 10<<10) + "\nthi", "thing"},
	}, "thing.number_one", "5")
}

// TestCompleteNode: what is there, without calling any of it.
func TestCompleteNode(t *testing.T) {
	completetest.JavaScript(t, open(t, subprocess.Options{}), "javascript")
}
