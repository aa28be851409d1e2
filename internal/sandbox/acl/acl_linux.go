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

// Tags of an access list's entries; see acl(5). They are sorted by them.
const (
	aclOwner = 0x01
	aclUser  = 0x02
	aclGroup = 0x04
	aclMask  = 0x10
	aclOther = 0x20

	aclVersion = 2
	aclAll     = 7
	aclNoID    = ^uint32(0)
)

// An aclEntry is one line of an access list, as the kernel encodes it.
type aclEntry struct {
	Tag, Perm uint16
	ID        uint32
}

var errMasked = errors.New("its access list keeps named users from writing")

// Grant lets uid list and change the open directory fd, beside those who may already.
// What is in the directory keeps its rights.
func Grant(fd, uid int) error {
	path := "/proc/self/fd/" + strconv.Itoa(fd)
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	b := make([]byte, 4096)
	n, err := unix.Getxattr(path, Name, b)
	var list []aclEntry
	switch {
	case err == unix.ENODATA:
		// A list with named users has to have a mask (acl(5)); the group keeps what its
		// own entry says.
		list = []aclEntry{
			{aclOwner, uint16(st.Mode >> 6 & 7), aclNoID}, {aclGroup, uint16(st.Mode >> 3 & 7), aclNoID},
			{aclMask, aclAll, aclNoID}, {aclOther, uint16(st.Mode & 7), aclNoID},
		}
	case err != nil:
		return err
	default:
		if list, err = parseACL(b[:n]); err != nil {
			return err
		}
	}
	if list, err = addUser(list, uint32(uid)); err != nil || list == nil {
		return err
	}
	return unix.Setxattr(path, Name, encodeACL(list), 0)
}

// addUser returns the list with all rights for uid, nil if it has them. It
// does not widen the mask for other users.
func addUser(list []aclEntry, uid uint32) ([]aclEntry, error) {
	i := 0
	for n, e := range list {
		switch {
		case e.Tag == aclMask && e.Perm != aclAll:
			return nil, errMasked
		case e.Tag == aclUser && e.ID == uid && e.Perm == aclAll:
			return nil, nil
		case e.Tag == aclUser && e.ID == uid:
			list = slices.Clone(list)
			list[n].Perm = aclAll
			return list, nil
		case e.Tag < aclUser || e.Tag == aclUser && e.ID < uid:
			i = n + 1
		}
	}
	list = slices.Insert(slices.Clone(list), i, aclEntry{aclUser, aclAll, uid})
	return list, nil
}

func parseACL(b []byte) ([]aclEntry, error) {
	if len(b) < 4 || binary.LittleEndian.Uint32(b) != aclVersion || (len(b)-4)%8 != 0 {
		return nil, errors.New("malformed access list")
	}
	list := make([]aclEntry, (len(b)-4)/8)
	_, err := binary.Decode(b[4:], binary.LittleEndian, list)
	return list, err
}

func encodeACL(list []aclEntry) []byte {
	b, _ := binary.Append([]byte{aclVersion, 0, 0, 0}, binary.LittleEndian, list)
	return b
}
