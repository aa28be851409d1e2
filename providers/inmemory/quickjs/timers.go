package quickjs

import (
	"container/heap"
	"math"
	"strings"
	"time"

	lib "modernc.org/libquickjs"
)

// maxDelay is the longest delay of a timer; as in node, longer ones mean 1 ms.
const maxDelay = math.MaxInt32 * time.Millisecond

func (in *instance) setTimer(args []value, repeat bool) value {
	if !in.isFunction(args[0]) {
		return in.vm.throwWith("TypeError", "the callback of a timer must be a function", map[string]string{"code": "ERR_INVALID_ARG_TYPE"})
	}
	var ms float64
	if n, ok := number(args[1]); ok {
		ms = n
	} else if !isUndefined(args[1]) && tag(args[1]) != lib.EJS_TAG_NULL {
		if lib.XJS_ToFloat64(in.vm.tls, in.vm.ctx, in.vm.scratch, args[1]) < 0 {
			return exception
		}
		ms = *at[float64](in.vm.scratch)
	}
	d := time.Duration(ms * float64(time.Millisecond))
	// Not ms < 1, which NaN is not either.
	if !(ms >= 1) || ms > float64(maxDelay/time.Millisecond) {
		d = time.Millisecond
	}
	t := &timer{at: time.Now().Add(d), delay: d, every: -1, index: -1}
	if repeat {
		t.every = d
	}
	return in.addTimer(t, args[0], args[min(2, len(args)):])
}

func (in *instance) setImmediate(_ value, args []value) value {
	if !in.isFunction(args[0]) {
		return in.vm.throw("TypeError", "the callback of setImmediate must be a function")
	}
	return in.addTimer(&timer{at: time.Now(), every: -1, index: -1}, args[0], args[1:])
}

func (in *instance) addTimer(t *timer, fn value, args []value) value {
	if len(in.loop.byID) >= maxTimers {
		return in.vm.throw("RangeError", "too many timers")
	}
	kept, ok := in.vm.keep(timerSize, args)
	if !ok {
		return exception
	}
	t.fn, t.args = in.vm.dup(fn), kept
	in.loop.add(t)
	v := in.newTimeout(t.id)
	if !isException(v) {
		t.self = in.vm.dup(v)
	}
	return v
}

// newTimeout returns what a program gets for a timer: as in node an object
// that can be taken for its number.
func (in *instance) newTimeout(id int32) value {
	exports := in.load("language")
	if isException(exports) {
		in.loop.remove(in.vm, id)
		return exception
	}
	defer in.vm.free(exports)
	proto := in.vm.own(exports, "timeoutPrototype")
	defer in.vm.free(proto)
	obj := lib.XJS_NewObjectProto(in.vm.tls, in.vm.ctx, proto)
	in.vm.set(obj, timerID, newInt(id), 0)
	return obj
}

// timerID is the property that holds a timer's number.
const timerID = "_timerId"

func (in *instance) timerOf(v value) (int32, bool) {
	if isObject(v) && classOf(v) == lib.EJS_CLASS_OBJECT {
		held := in.vm.own(v, timerID)
		defer in.vm.free(held)
		v = held
	}
	n, ok := number(v)
	return int32(n), ok
}

func (in *instance) clearTimer(_ value, args []value) value {
	if id, ok := in.timerOf(args[0]); ok {
		in.loop.remove(in.vm, id)
	}
	return undefined
}

func (in *instance) hostHasRef(_ value, args []value) value {
	id, _ := in.timerOf(args[0])
	t := in.loop.byID[id]
	return newBool(t != nil && !t.weak)
}

// hostRefresh starts a timer's time anew.
func (in *instance) hostRefresh(_ value, args []value) value {
	id, _ := in.timerOf(args[0])
	if t := in.loop.byID[id]; t != nil && t.index >= 0 {
		t.at = time.Now().Add(t.delay)
		heap.Fix(&in.loop.timers, t.index)
	}
	return undefined
}

// hostNextTick queues a callback before the reactions of promises.
func (in *instance) hostNextTick(_ value, args []value) value {
	if len(in.loop.ticks) >= maxTimers {
		return in.vm.throw("RangeError", "too many callbacks of process.nextTick")
	}
	kept, ok := in.vm.keep(tickSize, args[1:])
	if !ok {
		return exception
	}
	in.loop.ticks = append(in.loop.ticks, tick{in.vm.dup(args[0]), kept})
	return undefined
}

// hostRef makes a timer keep the program running, or not.
func (in *instance) hostRef(_ value, args []value) value {
	id, _ := in.timerOf(args[0])
	if t := in.loop.byID[id]; t != nil {
		in.loop.weaken(t, tag(args[1]) == lib.EJS_TAG_BOOL && intOf(args[1]) == 0)
	}
	return undefined
}

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

// location finds a zone of the IANA database. A name that is a path is none.
func location(name string) (*time.Location, bool) {
	switch strings.ToUpper(name) {
	case "UTC", "GMT", "ETC/UTC", "ETC/GMT", "ETC/UCT", "ETC/ZULU":
		return time.UTC, true
	// To LoadLocation these mean UTC and the host's own zone.
	case "", "LOCAL":
		return nil, false
	}
	// It refuses names with .. and absolute paths by itself.
	loc, err := time.LoadLocation(name)
	return loc, err == nil
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
