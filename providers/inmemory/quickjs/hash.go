//go:build !(386 || arm || s390x)

package quickjs

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding"
	"hash"
	"strings"
)

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New,
	"sha384": sha512.New384, "sha512": sha512.New}

// maxState is more than the state of an HMAC has.
const maxState = 1 << 10

// A digest is a hash, or an HMAC, in progress. Programs hold its state as bytes,
// so that it takes memory of theirs and ends with what refers to it.
type digest struct {
	inner hash.Hash
	outer hash.Hash // nil where there is no key
}

// newDigest returns a digest of no bytes, an HMAC where key is not nil.
func newDigest(maker func() hash.Hash, key []byte) digest {
	d := digest{inner: maker()}
	if key == nil {
		return d
	}
	// By hand (RFC 2104): crypto/hmac does not give its state away.
	d.outer = maker()
	if len(key) > d.inner.BlockSize() {
		h := maker()
		h.Write(key)
		key = h.Sum(nil)
	}
	for _, side := range []struct {
		h   hash.Hash
		pad byte
	}{{d.inner, 0x36}, {d.outer, 0x5C}} {
		block := append([]byte(nil), key...)
		for len(block) < side.h.BlockSize() {
			block = append(block, 0)
		}
		for i := range block {
			block[i] ^= side.pad
		}
		side.h.Write(block)
	}
	return d
}

// state returns what restore makes the same digest from.
func (d digest) state() []byte {
	b, _ := d.inner.(encoding.BinaryMarshaler).MarshalBinary()
	if d.outer != nil {
		outer, _ := d.outer.(encoding.BinaryMarshaler).MarshalBinary()
		b = append(b, outer...)
	}
	return b
}

// restore returns the digest of a state; ok is false for other bytes.
func restore(maker func() hash.Hash, state []byte) (d digest, ok bool) {
	d = newDigest(maker, nil)
	size := len(d.state())
	if len(state) != size && len(state) != 2*size {
		return d, false
	}
	err := d.inner.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:size])
	if err == nil && len(state) > size {
		d.outer = maker()
		err = d.outer.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[size:])
	}
	return d, err == nil
}

func (d digest) sum() []byte {
	sum := d.inner.Sum(nil)
	if d.outer != nil {
		d.outer.Write(sum)
		sum = d.outer.Sum(nil)
	}
	return sum
}

// hashData adds bytes of the engine's memory, until the program has to end.
func (in *instance) hashData(d digest, data span) {
	buf := make([]byte, 0, min(data.n, pieceSize))
	data.pieces(func(piece span) bool {
		d.inner.Write(append(buf, piece.raw()...))
		return !in.vm.stopping.Load()
	})
}

// algorithm returns the hash of a name; nil, with an exception pending, where
// there is none.
func (in *instance) algorithm(v value) func() hash.Hash {
	name, _, ok := in.vm.clipped(v, 64)
	if !ok {
		return nil
	}
	maker := hashes[strings.ReplaceAll(strings.ToLower(name), "-", "")]
	if maker == nil {
		in.vm.throwWith("Error", "Digest method not supported", map[string]string{"code": "ERR_CRYPTO_INVALID_DIGEST"})
	}
	return maker
}

// hostHashStart is hashStart(algorithm, key or undefined); it returns a state.
func (in *instance) hostHashStart(_ value, args []value) value {
	maker := in.algorithm(args[0])
	if maker == nil {
		return exception
	}
	if isUndefined(args[1]) {
		return in.vm.newBytes(newDigest(maker, nil).state())
	}
	key, ok := in.vm.span(args[1])
	if !ok {
		return in.vm.throw("TypeError", "a key needs bytes")
	}
	return in.resume(in.vm.newBytes(newDigest(maker, key.bytes()).state()))
}

// hostHashUpdate is hashUpdate(algorithm, state, data); it returns a new state.
func (in *instance) hostHashUpdate(_ value, args []value) value {
	d, ok := in.digest(args)
	if !ok {
		return exception
	}
	data, ok := in.vm.span(args[2])
	if !ok {
		return in.vm.throw("TypeError", "hash needs bytes")
	}
	in.hashData(d, data)
	return in.resume(in.vm.newBytes(d.state()))
}

// hostHashSum is hashSum(algorithm, state).
func (in *instance) hostHashSum(_ value, args []value) value {
	d, ok := in.digest(args)
	if !ok {
		return exception
	}
	return in.vm.newBytes(d.sum())
}

// digest restores the digest that the first two arguments are.
func (in *instance) digest(args []value) (digest, bool) {
	maker := in.algorithm(args[0])
	if maker == nil {
		return digest{}, false
	}
	s, _ := in.vm.span(args[1])
	d, ok := restore(maker, span{s.addr, min(s.n, maxState)}.bytes())
	if !ok || s.n > maxState {
		in.vm.throw("TypeError", "not the state of a digest")
	}
	return d, ok
}
