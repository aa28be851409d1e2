// Package acl lets further users into directories; see acl(5).
package acl

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Name is the extended attribute of access lists.
const Name = "system.posix_acl_access"

// Tags of an access list's entries, in their order in it.
const (
	tagOwner = 0x01
	tagUser  = 0x02
	tagGroup = 0x04
	tagMask  = 0x10
	tagOther = 0x20

	version = 2
	all     = 7
	noID    = ^uint32(0)
)

// An entry is one line of an access list, as the kernel encodes it.
type entry struct {
	Tag, Perm uint16
	ID        uint32
}

// Grant lets uid list and change the open directory fd, beside the users who may already.
// What is in the directory keeps its rights.
func Grant(fd, uid int) error {
	path := "/proc/self/fd/" + strconv.Itoa(fd)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	b := make([]byte, 4096)
	n, err := unix.Getxattr(path, Name, b)
	// A list with named users has to have a mask; the group keeps what its entry says.
	list := []entry{
		{tagOwner, uint16(st.Mode >> 6 & 7), noID}, {tagGroup, uint16(st.Mode >> 3 & 7), noID},
		{tagMask, all, noID}, {tagOther, uint16(st.Mode & 7), noID},
	}
	if err == nil && n > 4 {
		list = make([]entry, (n-4)/8)
		_, err = binary.Decode(b[4:n], binary.LittleEndian, list)
	}
	if err != nil && err != unix.ENODATA {
		return err
	}
	own := entry{tagUser, all, uint32(uid)}
	if slices.Contains(list, own) {
		return nil
	}
	if slices.ContainsFunc(list, func(e entry) bool { return e.Tag == tagMask && e.Perm != all }) {
		return errors.New("its access list keeps named users from writing")
	}
	list = slices.DeleteFunc(list, func(e entry) bool { return e.Tag == tagUser && e.ID == own.ID })
	list = slices.Insert(list, 1, own) // behind the owner's
	b, err = binary.Append([]byte{version, 0, 0, 0}, binary.LittleEndian, list)
	if err != nil {
		return err
	}
	return unix.Setxattr(path, Name, b, 0)
}
