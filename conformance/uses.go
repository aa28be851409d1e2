package conformance

import (
	"reflect"
	"strings"
)

// variables reports whether programs can set, print and look for variables.
func variables(p *Programs) bool { return p.Set != nil && p.Get != nil && p.Has != nil }

// unwritten names the fields of p that are empty and without which uses is false,
// so that whoever writes a provider knows what to add for a clause to be tried.
func unwritten(p Programs, uses func(*Programs) bool) string {
	whole := reflect.ValueOf(&p).Elem()
	var empty []int
	for i := range whole.NumField() {
		f := whole.Field(i)
		if !f.IsZero() {
			continue
		}
		empty = append(empty, i)
		switch f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Func:
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf("x")} }))
		}
	}
	var names []string
	for _, i := range empty {
		without := p
		reflect.ValueOf(&without).Elem().Field(i).SetZero()
		if !uses(&without) {
			names = append(names, whole.Type().Field(i).Name)
		}
	}
	return strings.Join(names, ", ")
}
