//go:build !(386 || arm || s390x)

package quickjs

import (
	"strings"
	"time"
	_ "time/tzdata" // time zones have the same names on every machine

	lib "modernc.org/libquickjs"
)

// hostZone describes a time zone, the local one where its name is undefined,
// at a time in milliseconds: its name, its offset in seconds east of UTC, and
// whether it is daylight saving time.
func (in *instance) hostZone(_ value, args []value) value {
	loc := time.Local
	if !isUndefined(args[0]) {
		name, _, ok := in.vm.clipped(args[0], 256)
		if !ok {
			return exception
		}
		if loc, ok = location(name); !ok {
			return in.vm.throw("RangeError", "Invalid time zone specified: "+clip(name, 100))
		}
	}
	ms, _ := number(args[1])
	t := time.UnixMilli(int64(ms)).In(loc)
	_, offset := t.Zone()
	obj := lib.XJS_NewObject(in.vm.tls, in.vm.ctx)
	in.vm.set(obj, "name", in.vm.newString(zoneName(loc, offset)), lib.MJS_PROP_C_W_E)
	in.vm.set(obj, "offset", newNumber(float64(offset)), lib.MJS_PROP_C_W_E)
	in.vm.set(obj, "daylight", newBool(t.IsDST()), lib.MJS_PROP_C_W_E)
	return obj
}

// location finds a zone of the IANA database, whose names are matched whatever
// their case. A name that is a path is none.
func location(name string) (*time.Location, bool) {
	switch strings.ToUpper(name) {
	case "UTC", "GMT", "ETC/UTC", "ETC/GMT", "ETC/UCT", "ETC/ZULU":
		return time.UTC, true
	// To LoadLocation these mean UTC and the host's own zone.
	case "", "LOCAL":
		return nil, false
	}
	for _, try := range []string{name, titled(name)} {
		// It refuses names with .. and absolute paths by itself.
		if loc, err := time.LoadLocation(try); err == nil {
			return loc, true
		}
	}
	return nil, false
}

// titled spells america/new_york as the database does.
func titled(name string) string {
	b := []byte(strings.ToLower(name))
	for i := range b {
		if (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// zoneName returns the zone's name for a program. The host's own zone may have
// none that Go knows.
func zoneName(loc *time.Location, offset int) string {
	if name := loc.String(); name != "Local" {
		return name
	}
	if offset == 0 {
		return "UTC"
	}
	return "Local"
}
