package rootfs

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A look finds what changed since a mark. Where events leave a doubt, it looks at
// everything.
type look struct {
	*mark
	ctx          context.Context
	found        *finds
	names        map[key]name
	clockSetBack bool
	unsure       bool
	cut          bool
}

// A name is what happened to one.
type name struct {
	created bool // it is new, or of something else than before
	moved   bool // by being another's before
	written bool
	dir     bool
}

// changes adds what differs, and reports whether that is all.
func (m *mark) changes(ctx context.Context, out *finds) bool {
	m.t.op.Lock()
	defer m.t.op.Unlock()
	m.t.drain()
	out.reset()
	l := &look{mark: m, ctx: ctx, found: out, names: map[key]name{}, clockSetBack: m.clockSetBack()}
	known := m.root == m.t.root && m.t.apply(ctx) && l.read()
	if known {
		l.stat()
		known = !l.unsure
	}
	if !known && ctx.Err() == nil {
		l.everything()
	}
	l.mapped()
	return !l.cut && ctx.Err() == nil
}

// read learns from events what happened to names. It reports whether they tell
// all: a name that came and went may have been one more of a file that is still
// there, and was written to.
func (l *look) read() bool {
	todo, ok := l.t.since(l.seq)
	if !ok {
		return false
	}
	moving := map[uint32]bool{} // whether what moves was new
	for _, e := range todo {
		k := key{e.n, e.name}
		was := l.names[k]
		switch {
		case e.mask&unix.IN_DELETE != 0:
			l.unsure = l.unsure || was.created
			delete(l.names, k)
		case e.mask&unix.IN_MOVED_FROM != 0:
			moving[e.cookie] = was.created
			// Two that exchange their names come as one moving on to the other's.
			l.unsure = l.unsure || was.moved
			delete(l.names, k)
		case e.mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
			l.unsure = l.unsure || was.created
			delete(moving, e.cookie)
			l.names[k] = name{created: true, moved: e.mask&unix.IN_MOVED_TO != 0, dir: e.mask&unix.IN_ISDIR != 0}
		case e.mask&found != 0:
			l.names[k] = name{created: true}
		default:
			was.written = was.written || e.mask&unix.IN_MODIFY != 0
			l.names[k] = was
		}
	}
	for _, created := range moving {
		l.unsure = l.unsure || created
	}
	return !l.unsure
}

// stat looks at the names to which something happened, and at files to which
// something may happen by another name or without an event.
func (l *look) stat() {
	var dirs []key
	keys := map[key]bool{}
	for k, n := range l.names {
		if n.dir {
			dirs = append(dirs, k)
		} else {
			keys[k] = true
		}
	}
	for k := range l.t.hard {
		keys[k] = true
	}
	for k := range l.t.open {
		keys[k] = true
	}
	err := l.t.fs.opts.As.do(func() {
		l.t.each(l.ctx, sorted(keys), l.missing, l.one)
		for _, k := range dirs {
			if kid := k.n.kids[k.name]; kid != nil && kid.moved > l.seq && l.ctx.Err() == nil {
				l.moved(kid)
			}
		}
	})
	l.unsure = l.unsure || err != nil
}

// missing is told of names that cannot be looked at.
func (l *look) missing(k key, err error) {
	switch {
	case !errors.Is(err, fs.ErrNotExist) || l.names[k].created:
		l.unsure = true
	default:
		delete(l.t.hard, k)
	}
}

// one looks at a name.
func (l *look) one(_ *os.File, k key, st *unix.Stat_t) {
	if l.ctx.Err() != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return
	}
	// It has other names, to which nothing happened.
	l.unsure = l.unsure || st.Nlink > 1 && l.t.hard[k] != st.Ino
	// Where the clock was set back, a change may be as old as the mark, and only the
	// event tells of it.
	if n := l.names[k]; n.created || !l.before(st) || l.clockSetBack && n.written {
		dir, _ := k.n.path()
		l.found.add(join(dir, k.name), st, nil)
	}
}

// moved lists all that is in a directory that has got another name.
func (l *look) moved(n *node) {
	dir, err := l.t.openDir(n.up)
	if err != nil {
		l.unsure = true
		return
	}
	defer dir.Close()
	path, _ := n.up.path()
	s := newScan(l.ctx)
	s.seen = func(e *entry) { l.found.add(e.path(), &e.st, e.err) }
	up := &level{file: dir, path: path}
	s.descend(up, &entry{dir: up, name: n.name}, n.up.level())
	l.cut = l.cut || s.cut
}

// known finds the node of a directory that a scan has come to.
func (t *tree) known(l *level, root *node, seq int64) {
	var st unix.Stat_t
	n := root
	if l.up != nil {
		if n = nil; l.up.node != nil {
			n = l.up.node.kids[l.name]
		}
	}
	if n == nil || unix.Fstat(int(l.file.Fd()), &st) != nil || st.Ino != n.ino || uint64(st.Dev) != t.id.dev {
		l.fresh = true
		return
	}
	l.node = n
	l.fresh = n.born > seq || n.moved > seq || l.up != nil && l.up.fresh
}

// everything looks at all files: one whose time is older than the mark has not
// changed, unless its directory has.
func (l *look) everything() {
	l.found.reset()
	hard := map[key]uint64{}
	s := newScan(l.ctx)
	n := 0
	s.enter = func(v *level) {
		l.t.known(v, l.root, l.seq)
		if n++; n%256 == 0 {
			l.t.drain()
		}
	}
	s.seen = func(e *entry) {
		if e.err != nil || e.dir.fresh || !l.before(&e.st) {
			l.found.add(e.path(), &e.st, e.err)
		}
		if e.err == nil && e.st.Nlink > 1 && e.dir.node != nil && len(hard) <= maxHard {
			hard[key{e.dir.node, e.name}] = e.st.Ino
		}
	}
	whole := l.t.fs.run(s)
	// The times of what changed may be older than the mark's.
	l.cut = !whole || l.clockSetBack
	// The tree was begun anew since the mark: these are not its directories.
	if l.root != l.t.root {
		return
	}
	l.t.hard = hard
	if len(hard) > maxHard {
		l.t.giveUp()
	}
}

// mapped finds the files whose content is another though their times are not.
func (l *look) mapped() {
	keys := map[key]bool{}
	for k := range l.sums {
		keys[k] = true
	}
	budget := int64(maxSum)
	l.t.peek(l.ctx, keys, func(p *peeked) {
		dir, ok := p.key.n.path()
		if !ok {
			return
		}
		if sum, ok := p.sum(l.seed, &budget); !ok || sum != l.sums[p.key] {
			l.found.add(join(dir, p.key.name), &p.st, nil)
		}
	})
}
