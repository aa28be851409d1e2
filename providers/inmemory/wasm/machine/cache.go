package machine

import (
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/toolcell/toolcell/codeinterp"
)

// openCache opens a directory for native code, to which no other user may write.
func openCache(dir string) (wazero.CompilationCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	if err := checkOwner(dir); err != nil {
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", codeinterp.ErrUnavailable, err)
	}
	return cache, nil
}
