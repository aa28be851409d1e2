package tools

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"
)

// arguments is implemented by pointers to argument structs: bind returns where
// the argument of that name goes, a *string or an *int64.
type arguments interface{ bind(name string) any }

// A param is what the decoder knows of an argument. It is read from the
// schema, so the two cannot disagree.
type param struct {
	name     string
	integer  bool // else a string
	required bool
	enum     []string
	min, max int64
	unit     string // said after the bounds
}

// A schema is the finished form of an argument struct.
type schema struct {
	neutral, strict json.RawMessage
	params          []param
}

// limits are the parts of a schema that are only known at run time.
type limits struct {
	languages  []string
	maxTimeout int64 // milliseconds
	timeout    int64 // milliseconds; 0: none
	maxRead    int64 // bytes
}

// newSchema reflects the struct type t.
func newSchema(t reflect.Type, lim *limits) schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, ExpandedStruct: true}
	root := r.ReflectFromType(t)
	root.Version = ""
	lim.apply(root)
	s := schema{neutral: marshal(root)}
	required := map[string]bool{}
	for _, name := range root.Required {
		required[name] = true
	}
	root.Required = []string{}
	for p := root.Properties.Oldest(); p != nil; p = p.Next() {
		s.params = append(s.params, newParam(p.Key, p.Value, required[p.Key]))
		root.Required = append(root.Required, p.Key)
		if !required[p.Key] {
			allowNull(p.Value)
		}
	}
	s.strict = marshal(root)
	return s
}

// apply fills in the limits. They are said in the descriptions as well, since
// several consumers drop the keywords.
func (lim *limits) apply(root *jsonschema.Schema) {
	if p, ok := root.Properties.Get("language"); ok {
		for _, name := range lim.languages {
			p.Enum = append(p.Enum, name)
		}
	}
	if p, ok := root.Properties.Get("timeoutMs"); ok {
		p.Maximum = json.Number(strconv.FormatInt(lim.maxTimeout, 10))
		p.Description = fmt.Sprintf("After how many milliseconds the code is stopped: 1 to %d.", lim.maxTimeout)
		if lim.timeout > 0 {
			p.Description += fmt.Sprintf(" Unless given, %d.", lim.timeout)
		}
	}
	if p, ok := root.Properties.Get("limit"); ok {
		p.Maximum = json.Number(strconv.FormatInt(lim.maxRead, 10))
		p.Description = fmt.Sprintf("How many bytes to read at most: 1 to %d. Unless given, %d.", lim.maxRead, lim.maxRead)
	}
}

func newParam(name string, p *jsonschema.Schema, required bool) param {
	q := param{name: name, integer: p.Type == "integer", required: required}
	for _, v := range p.Enum {
		q.enum = append(q.enum, v.(string))
	}
	if q.integer {
		q.min, _ = p.Minimum.Int64()
		q.max = 1 << 53
		if p.Maximum != "" {
			q.max, _ = p.Maximum.Int64()
		}
	}
	if name == "timeoutMs" {
		q.unit = " milliseconds"
	}
	return q
}

// allowNull turns an optional property into the form of strict modes.
func allowNull(p *jsonschema.Schema) {
	p.Extras = map[string]any{"type": []string{p.Type, "null"}}
	p.Type = ""
	if p.Enum != nil {
		p.Enum = append(p.Enum, nil)
	}
}

// marshal encodes values that always can be.
func marshal(v any) json.RawMessage {
	b, err := encode(v)
	if err != nil {
		panic(fmt.Sprintf("tools: %v", err))
	}
	return b
}
