// Package completetest has the tests of completions that providers share.
package completetest

import (
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// A Row is code, and what could stand at its end, with blanks between.
type Row [2]string

// Wants runs state, whose programs say CALLED where anything of it is called,
// completes each row's code, and sees with the program again that the state is as
// it was.
func Wants(t *testing.T, ci codeinterp.StatefulInterpreter, language, state string, rows []Row, again, value string) {
	t.Helper()
	id, err := ci.CreateContext(t.Context(), language, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := ci.RunInContext(t.Context(), id, state, nil); err != nil || !res.OK() {
		t.Fatalf("%+v, %v", res, err)
	}
	c, ok := codeinterp.Completions(ci)
	if !ok {
		t.Fatal("there are no completions")
	}
	for _, row := range rows {
		got, err := c.Complete(t.Context(), id, row[0], len(row[0]))
		if err != nil || strings.Join(got.Matches, " ") != row[1] || got.End != len(row[0]) {
			t.Errorf("%.30q: %+v, %v; want %q", row[0], got, err, row[1])
		}
	}
	res, err := ci.RunInContext(t.Context(), id, again, nil)
	if err != nil || !res.OK() || res.StateLost || res.ExecutionCount != 2 || res.Text() != value || strings.Contains(res.Stdout(), "CALLED") || res.Stderr() != "" {
		t.Errorf("the state after it: %+v, %v", res, err)
	}
}

// JavaScript wants what every JavaScript runtime can tell.
func JavaScript(t *testing.T, ci codeinterp.StatefulInterpreter, language string) {
	t.Helper()
	Wants(t, ci, language, javaScriptState, []Row{
		{"thi", "thing this"},
		{"f(thi", "thing this"},
		{"größ", "größe"},
		{"thing.num", "numberOne"},
		{"thing?.num", "numberOne"},
		{"thing.inner.dee", "deepest"},
		{"thing.prop.x", ""},
		{"trap.x", ""},
		{"wide.", ""},
		{"behind.ne", "near"},
		{"behind.hid", ""},
		{"text.toUpperC", "toUpperCase"},
		{"list.flatM", "flatMap"},
		{"bytes.byteLen", "byteLength"},
		{"made.inh", "inherited"},
		{"ring.fa", "far"},
		{"early.x", ""},
		{"process.platf", "platform"},
		{"Buffer.isEnc", "isEncoding"},
		{"JSON.pars", "parse"},
		{"'a'.toU", ""},
		{"f().x", ""},
		{"whi", "while"},
		{"red", ""},
		{"1.toF", ""},
	}, "thing.numberOne", "5")
}

const javaScriptState = `
const called = () => { console.log('CALLED'); process.exit(3) };
const thing = { numberOne: 5, inner: { deepest: 'x' }, get prop() { return called() }, method() {} };
let text = 'abc', list = [1], bytes = new Uint8Array(1 << 20);
var wide = new Proxy({ hidden: 1 }, { get: called, ownKeys: called, getPrototypeOf: called, getOwnPropertyDescriptor: called });
class Base { inherited() {} } class Thing extends Base {}
const made = new Thing(), behind = Object.create(wide, { near: { value: 1 } });
globalThis['\x1b[31mred'] = globalThis['no identifier'] = 1;
Object.defineProperty(globalThis, 'trap', { get: called });
const größe = 1, ring = Object.create({ far: 1 });
process.platform; Buffer.from('');
let early; undefined`
