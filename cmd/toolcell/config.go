package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
)

// configure sets the flags that were not given from the user's configuration file,
// $XDG_CONFIG_HOME/toolcell/config.json: an object whose keys are names of flags and
// whose values are text, numbers, true, or lists of them. A command passes over the flags
// that it does not have.
//
// It returns the provider that the file names.
func configure(fs *pflag.FlagSet, getenv func(string) string) (provider string, err error) {
	dir := getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := getenv("HOME")
		if home == "" {
			return "", nil
		}
		dir = filepath.Join(home, ".config")
	}
	file := filepath.Join(dir, "toolcell", "config.json")
	values, err := readConfig(file)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", codeinterp.ErrInvalid, file, err)
	}
	for name, value := range values {
		flag := fs.Lookup(name)
		if name == "provider" {
			provider = fmt.Sprint(value)
			continue
		}
		if flag == nil || flag.Changed {
			continue
		}
		items, ok := value.([]any)
		if !ok {
			items = []any{value}
		}
		for _, item := range items {
			if err := flag.Value.Set(fmt.Sprint(item)); err != nil {
				return "", fmt.Errorf("%w: %s: %s: %w", codeinterp.ErrInvalid, file, name, err)
			}
		}
	}
	return provider, nil
}

func readConfig(file string) (values map[string]any, err error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &values)
	}
	return values, err
}
