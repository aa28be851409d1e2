package quickjs

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"encoding/binary"
)

// hostCipher is cipher(mode, key, iv, data, encrypt, done, more). It encrypts or decrypts
// whole blocks in the modes ecb and cbc, and in ctr bytes behind the first done ones. In
// the mode gcm it returns the tag of a whole text and what is authenticated beside it.
func (in *instance) hostCipher(_ value, args []value) value {
	vm := in.vm
	mode, _, ok := vm.clipped(args[0], 16)
	var parts [4][]byte
	for i, v := range []value{args[1], args[2], args[3], args[6]} {
		if !ok || i == 3 && isUndefined(v) {
			break
		}
		parts[i], ok = vm.bytesOf(v)
	}
	if !ok || !vm.borrow(len(parts[2])) {
		return exception
	}
	key, iv, data := parts[0], parts[1], parts[2]
	block, err := aes.NewCipher(key)
	if err != nil {
		return vm.throw("RangeError", "Invalid key length")
	}
	done, _ := number(args[5])
	switch mode {
	case "ecb":
		crypt := block.Encrypt
		if !isTrue(args[4]) {
			crypt = block.Decrypt
		}
		for i := 0; i < len(data); i += aes.BlockSize {
			crypt(data[i:], data[i:i+aes.BlockSize])
		}
	case "cbc":
		chain := cipher.NewCBCDecrypter
		if isTrue(args[4]) {
			chain = cipher.NewCBCEncrypter
		}
		chain(block, iv).CryptBlocks(data, data)
	case "ctr":
		advance(iv, uint64(done)/aes.BlockSize)
		stream := cipher.NewCTR(block, iv)
		skipped := make([]byte, int(done)%aes.BlockSize)
		stream.XORKeyStream(skipped, skipped)
		stream.XORKeyStream(data, data)
	case "gcm":
		seal, err := cipher.NewGCM(block)
		if err != nil {
			return vm.throw("Error", err.Error())
		}
		data = seal.Seal(nil, iv, data, parts[3])[len(data):]
	}
	return in.resume(vm.newBytes(data))
}

// advance adds n to a counter of 16 bytes.
func advance(counter []byte, n uint64) {
	low := binary.BigEndian.Uint64(counter[8:])
	binary.BigEndian.PutUint64(counter[8:], low+n)
	if low+n < low {
		binary.BigEndian.PutUint64(counter, binary.BigEndian.Uint64(counter)+1)
	}
}

// hostDerive is derive(algorithm, password, salt, rounds, length): a key, by PBKDF2.
func (in *instance) hostDerive(_ value, args []value) value {
	vm := in.vm
	name, _, ok := vm.clipped(args[0], 64)
	if !ok {
		return exception
	}
	maker := hashOf(name)
	if maker == nil {
		return vm.throwWith("TypeError", "Invalid digest: "+name, map[string]string{"code": "ERR_CRYPTO_INVALID_DIGEST"})
	}
	password, ok := vm.bytesOf(args[1])
	if !ok {
		return exception
	}
	salt, ok := vm.bytesOf(args[2])
	rounds, _ := number(args[3])
	length, _ := number(args[4])
	if !ok || !vm.borrow(int(length)) {
		return exception
	}
	mac, key := hmac.New(maker, password), []byte(nil)
	for block := uint32(1); len(key) < int(length) && !vm.stopping.Load(); block++ {
		mac.Reset()
		mac.Write(binary.BigEndian.AppendUint32(append([]byte(nil), salt...), block))
		u := mac.Sum(nil)
		sum := append([]byte(nil), u...)
		for n := 1; n < int(rounds) && !vm.stopping.Load(); n++ {
			mac.Reset()
			mac.Write(u)
			u = mac.Sum(u[:0])
			for i := range sum {
				sum[i] ^= u[i]
			}
		}
		key = append(key, sum...)
	}
	return in.resume(vm.newBytes(key[:min(len(key), int(length))]))
}
