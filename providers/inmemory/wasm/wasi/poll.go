package wasi

import (
	"encoding/binary"
	"time"
)

const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 4096
)

// pollOneoff waits for the first of some events. Files are always ready, so it waits only
// where all events are times.
func (c *call) pollOneoff() Errno {
	n := c.u32(2)
	if n == 0 || n > maxSubscriptions {
		return ErrnoInval
	}
	list, out := c.at(c.u32(0), n*subscriptionSize), c.at(c.u32(1), n*eventSize)
	if list == nil || out == nil {
		return ErrnoFault
	}
	waits := make([]time.Duration, n)
	first := time.Duration(1<<63 - 1)
	for i := range waits {
		waits[i] = wait(list[i*subscriptionSize:])
		first = min(first, waits[i])
	}
	if first > 0 {
		c.Sleep(first)
	}
	events := uint32(0)
	for i, w := range waits {
		if w > first {
			continue
		}
		s, e := list[i*subscriptionSize:], out[events*eventSize:][:eventSize]
		clear(e)
		copy(e, s[:8]) // what the module knows it by
		if e[10] = s[8]; s[8] != 0 && c.file(binary.LittleEndian.Uint32(s[16:])) == nil {
			e[8] = byte(ErrnoBadf)
		}
		events++
	}
	c.put32(c.u32(3), events)
	return 0
}

// wait returns how long a subscription waits.
func wait(s []byte) time.Duration {
	const absolute = 1
	if s[8] != 0 {
		return 0
	}
	t := binary.LittleEndian.Uint64(s[24:])
	d := time.Duration(min(t, 1<<62))
	if s[40]&absolute == 0 {
		return d
	}
	if s[16] == 0 {
		return max(time.Until(time.Unix(0, int64(d))), 0)
	}
	return max(d-time.Since(epoch), 0)
}
