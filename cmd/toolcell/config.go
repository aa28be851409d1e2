package main

import (
	"encoding/json"
	"errors"
	"fmt"
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
	file := userFile(getenv, "XDG_CONFIG_HOME", ".config", "config.json")
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	var values map[string]any
	if err == nil {
		err = json.Unmarshal(b, &values)
	}
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

// userFile returns the path of a file of the user's, below the directory that a variable
// names or else one of the home directory. It is empty if neither is known.
func userFile(getenv func(string) string, variable, inHome, name string) string {
	dir := getenv(variable)
	if home := getenv("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, inHome)
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "toolcell", name)
}
