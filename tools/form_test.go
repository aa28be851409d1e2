package tools_test

import (
	"encoding/json"
	"testing"
)

func TestFences(t *testing.T) {
	ci := &fake{}
	set := newSet(t, ci, nil)
	strip := func(t testing.TB, code string) string {
		args, _ := json.Marshal(map[string]string{"language": "python", "code": code})
		if r := set.Dispatch(t.Context(), "workspace__w__run_code", args, nil); r.Failure != nil {
			t.Fatal(r.Text)
		}
		return ci.runs[len(ci.runs)-1]
	}
	for _, tt := range []struct{ name, code, want string }{
		{"none", "x = 1\n", "x = 1\n"},
		{"plain", "```\nx = 1\n```", "x = 1\n"},
		{"language", "```python\nx = 1\ny\n```\n", "x = 1\ny\n"},
		{"info", "```python title=\"a b\"\nx\n```", "x\n"},
		{"space around", "\n\n  ```js\nx\n  ```  \n", "x\n"},
		{"indented code", "```\n    x\n```", "    x\n"},
		{"tildes", "~~~python\nx\n~~~", "x\n"},
		{"windows", "```python\r\nx\r\n```\r\n", "x\r\n"},
		{"longer close", "```\nx\n`````", "x\n"},
		{"inner backticks", "```js\nconst s = `a`, f = '```'\n```", "const s = `a`, f = '```'\n"},
		{"inner fence", "```python\ns = '''\n```\nx\n```\n'''\n```", "s = '''\n```\nx\n```\n'''\n"},
		{"inner fence with language", "```python\ns = '''\n```js\nx\n```\n'''\n```", "s = '''\n```js\nx\n```\n'''\n"},
		{"longer fence", "````python\ns = '''\n```js\n```\n'''\n````", "s = '''\n```js\n```\n'''\n"},
		{"empty", "```python\n```", ""},

		{"text before", "Here:\n```\nx\n```", "Here:\n```\nx\n```"},
		{"text after", "```\nx\n```\nDone.", "```\nx\n```\nDone."},
		{"two blocks", "```python\na\n```\nand\n```python\nb\n```", "```python\na\n```\nand\n```python\nb\n```"},
		{"never closed", "```python\nx", "```python\nx"},
		{"closed too short", "````\nx\n```", "````\nx\n```"},
		{"only a fence", "```", "```"},
		{"inline", "```x```", "```x```"},
		{"template literal", "`a\n`", "`a\n`"},
		{"other close", "```\nx\n~~~", "```\nx\n~~~"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strip(t, tt.code); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
