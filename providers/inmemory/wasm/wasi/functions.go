package wasi

import (
	"crypto/rand"
	"slices"
	"time"
)

// Functions are those of the interface, by name.
var Functions = map[string]Function{
	"args_get":                {Params: "ii", call: func(c *call) Errno { return c.texts(c.Args) }},
	"args_sizes_get":          {Params: "ii", call: func(c *call) Errno { return c.sizes(c.Args) }},
	"environ_get":             {Params: "ii", call: func(c *call) Errno { return c.texts(c.Env) }},
	"environ_sizes_get":       {Params: "ii", call: func(c *call) Errno { return c.sizes(c.Env) }},
	"clock_res_get":           {Params: "ii", call: (*call).clockResGet},
	"clock_time_get":          {Params: "iIi", call: (*call).clockTimeGet},
	"random_get":              {Params: "ii", call: (*call).randomGet},
	"sched_yield":             {call: always(0)},
	"proc_exit":               {Params: "i", NoResult: true, call: func(c *call) Errno { panic(Exit{c.u32(0)}) }},
	"poll_oneoff":             {Params: "iiii", call: (*call).pollOneoff},
	"fd_advise":               {Params: "iIIi", call: onFile((*call).known)},
	"fd_close":                {Params: "i", call: func(c *call) Errno { return c.close(c.u32(0)) }},
	"fd_datasync":             {Params: "i", call: onFile((*call).known)},
	"fd_sync":                 {Params: "i", call: onFile((*call).known)},
	"fd_fdstat_get":           {Params: "ii", call: onFile((*call).fdstatGet)},
	"fd_fdstat_set_flags":     {Params: "ii", call: onFile((*call).fdstatSetFlags)},
	"fd_filestat_get":         {Params: "ii", call: onFile((*call).filestatGet)},
	"fd_filestat_set_size":    {Params: "iI", call: onFile((*call).filestatSetSize)},
	"fd_filestat_set_times":   {Params: "iIIi", call: onFile((*call).filestatSetTimes)},
	"fd_prestat_get":          {Params: "ii", call: onFile((*call).prestatGet)},
	"fd_prestat_dir_name":     {Params: "iii", call: onFile((*call).prestatDirName)},
	"fd_read":                 {Params: "iiii", call: moves(false, true)},
	"fd_pread":                {Params: "iiiIi", call: moves(false, false)},
	"fd_write":                {Params: "iiii", call: moves(true, true)},
	"fd_pwrite":               {Params: "iiiIi", call: moves(true, false)},
	"fd_seek":                 {Params: "iIii", call: onFile((*call).fdSeek)},
	"fd_tell":                 {Params: "ii", call: onFile((*call).fdTell)},
	"fd_readdir":              {Params: "iiiIi", call: onFile((*call).fdReaddir)},
	"path_open":               {Params: "iiiiiIIii", call: onPath(2, (*call).pathOpen)},
	"path_create_directory":   {Params: "iii", call: onPath(1, (*call).pathCreateDirectory)},
	"path_remove_directory":   {Params: "iii", call: onPath(1, (*call).pathRemoveDirectory)},
	"path_unlink_file":        {Params: "iii", call: onPath(1, (*call).pathUnlinkFile)},
	"path_rename":             {Params: "iiiiii", call: onPath(1, (*call).pathRename)},
	"path_filestat_get":       {Params: "iiiii", call: onPath(2, (*call).pathFilestatGet)},
	"path_filestat_set_times": {Params: "iiiiIIi", call: onPath(2, (*call).pathFilestatSetTimes)},
	"path_link":               {Params: "iiiiiii", call: always(ErrnoNotsup)},
	"path_symlink":            {Params: "iiiii", call: always(ErrnoNotsup)},
	"path_readlink":           {Params: "iiiiii", call: onPath(1, (*call).pathReadlink)},
	"sock_accept":             {Params: "iii", call: always(ErrnoNotsock)},
	"sock_recv":               {Params: "iiiiii", call: always(ErrnoNotsock)},
	"sock_send":               {Params: "iiiii", call: always(ErrnoNotsock)},
	"sock_shutdown":           {Params: "ii", call: always(ErrnoNotsock)},
}

// always returns what does nothing.
func always(e Errno) func(*call) Errno { return func(*call) Errno { return e } }

// known does nothing to a file that is open.
func (c *call) known(*file) Errno { return 0 }

// onFile calls do with the file that the first argument stands for.
func onFile(do func(*call, *file) Errno) func(*call) Errno {
	return func(c *call) Errno {
		if f := c.file(c.u32(0)); f != nil {
			return do(c, f)
		}
		return ErrnoBadf
	}
}

// onPath calls do with the name, from the root, of the path that begins with argument i, in
// the directory that the first one stands for.
func onPath(i int, do func(c *call, name string) Errno) func(*call) Errno {
	return func(c *call) Errno {
		name, e := c.path(c.u32(0), c.u32(i), c.u32(i+1))
		if e != 0 {
			return e
		}
		return do(c, name)
	}
}

// texts writes texts, and where each begins.
func (c *call) texts(texts []string) Errno {
	list, text := c.u32(0), c.u32(1)
	for _, v := range texts {
		c.put32(list, text)
		list += 4
		text += uint32(copy(c.at(text, uint32(len(v)+1)), v+"\x00"))
	}
	return 0
}

func (c *call) sizes(texts []string) Errno {
	size := 0
	for _, v := range texts {
		size += len(v) + 1
	}
	c.put32(c.u32(0), uint32(len(texts)))
	c.put32(c.u32(1), uint32(size))
	return 0
}

// The numbers of the clocks are 0 for the time of day, and 1 to 3 for those that only
// measure.
func (c *call) clockResGet() Errno {
	if c.u32(0) > 3 {
		return ErrnoInval
	}
	c.put64(c.u32(1), uint64(time.Microsecond))
	return 0
}

func (c *call) clockTimeGet() Errno {
	now := uint64(time.Since(epoch))
	switch id := c.u32(0); {
	case id == 0:
		now = uint64(time.Now().UnixNano())
	case id > 3:
		return ErrnoInval
	}
	c.put64(c.u32(2), now)
	return 0
}

// longCall is how many bytes are dealt with between two yields.
const longCall = 1 << 20

func (c *call) randomGet() Errno {
	for b := range slices.Chunk(c.at(c.u32(0), c.u32(1)), longCall) {
		_, _ = rand.Read(b) // it never fails
		c.Yield()
	}
	return 0
}
