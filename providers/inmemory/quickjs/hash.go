package quickjs

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strings"
)

var hashes = map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New,
	"sha384": sha512.New384, "sha512": sha512.New}

// hashOf returns the hash of a name, nil where there is none.
func hashOf(name string) func() hash.Hash {
	return hashes[strings.ReplaceAll(strings.ToLower(name), "-", "")]
}

// hostHash is hash(algorithm, data, key): the digest of bytes, an HMAC where there is a
// key. Without data it only checks the algorithm.
func (in *instance) hostHash(_ value, args []value) value {
	vm := in.vm
	name, _, ok := vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	maker := hashOf(name)
	switch {
	case maker == nil:
		return vm.throwWith("Error", "Digest method not supported", map[string]string{"code": "ERR_CRYPTO_INVALID_DIGEST"})
	case isUndefined(args[1]):
		return undefined
	}
	data, ok := vm.bytesOf(args[1])
	if !ok {
		return exception
	}
	h := maker()
	if !isUndefined(args[2]) {
		key, ok := vm.bytesOf(args[2])
		if !ok {
			return exception
		}
		h = hmac.New(maker, key)
	}
	for len(data) > 0 && !vm.stopping.Load() { // in pieces: a large one takes long
		n := min(len(data), 1<<20)
		h.Write(data[:n])
		data = data[n:]
	}
	return in.resume(vm.newBytes(h.Sum(nil)))
}
