package driver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// A record is a CallRecord that is being written, with calls.mu held.
type record struct {
	codeinterp.CallRecord
	begin time.Time
	done  bool // the function has returned
}

// maxNamedOpen is how many functions that do not return are named.
const maxNamedOpen = 10

// record begins the record of a call. Of too many the middle ones are dropped.
// c.mu is held.
func (c *calls) record(name string, args []byte) *record {
	rec := &record{begin: time.Now()}
	rec.Number, rec.Name, rec.Args = c.count, excerpt(name), excerpt(args)
	if len(c.records) == codeinterp.MaxCallRecords {
		const half = codeinterp.MaxCallRecords / 2
		c.records = slices.Delete(c.records, half, half+1)
	}
	c.records = append(c.records, rec)
	return rec
}

// close ends the record of a call that is not made. c.mu is held.
func (rec *record) close(err error) { rec.Err, rec.Error, rec.done = err, message(err), true }

// excerpt returns the beginning of s, as UTF-8, and keeps no more of it.
func excerpt[T ~string | ~[]byte](s T) string {
	return strings.Clone(strings.ToValidUTF8(string(s[:min(len(s), codeinterp.MaxRecorded)]), ""))
}

// report puts the records into res. c.mu is held.
func (c *calls) report(res *codeinterp.Result) {
	var open []string
	for _, rec := range c.records {
		r := rec.CallRecord
		if !rec.done {
			r.Duration = time.Since(rec.begin)
			if len(open) < maxNamedOpen {
				open = append(open, fmt.Sprintf("%s (call %d)", r.Name, r.Number))
			}
		}
		res.Calls = append(res.Calls, r)
	}
	if n := len(c.open); n > 0 {
		res.CallbackErr = errors.Join(res.CallbackErr,
			fmt.Errorf("%d functions have not returned although their ctx has ended: %s", n, strings.Join(open, ", ")))
	}
}
