//go:build unix

package environments

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// python makes a Python with the packages by uv, and returns what it holds.
func (i *installer) python(ctx context.Context) ([]string, error) {
	uv, err := i.uv(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(i.env); err != nil { // uv makes it
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	if _, err := i.command(ctx, uv, "venv", "-q", "--relocatable", "--python", i.base.path, i.env); err != nil {
		return nil, err
	}
	add, err := i.addPython()
	if err != nil {
		return nil, err
	}
	add = append([]string{uv, "pip"}, add...)
	if i.Exact { // the cache may have it all
		if _, err = i.command(ctx, append(add, "--offline")...); err != nil {
			_, err = i.command(ctx, add...)
		}
	} else {
		_, err = i.command(ctx, add...)
	}
	if err != nil {
		return nil, err
	}
	// Programs cannot keep what they compile. What does not compile fails when it is
	// imported.
	if _, err := i.command(ctx, i.base.path, "-I", "-m", "compileall", "-q", filepath.Join(i.env, "lib")); ctx.Err() != nil {
		return nil, err
	}
	frozen, err := i.command(ctx, uv, "pip", "freeze", "-q", "--python", filepath.Join(i.env, "bin", "python"))
	if err != nil {
		return nil, err
	}
	list := strings.Fields(frozen)
	if k := slices.IndexFunc(list, func(line string) bool { return !pinned().MatchString(line) }); k >= 0 || len(list) == 0 {
		return nil, fmt.Errorf("%w: uv lists %.200q", codeinterp.ErrUnavailable, frozen)
	}
	return list, nil
}

// addPython returns uv's arguments that install the packages, of wheels only.
func (i *installer) addPython() ([]string, error) {
	flags := []string{"-q", "--only-binary", ":all:", "--python", filepath.Join(i.env, "bin", "python")}
	list, err := i.write("packages.txt", i.Packages)
	if err != nil {
		return nil, err
	}
	if i.Exact {
		return slices.Concat([]string{"sync"}, flags, []string{list}), nil
	}
	if len(i.Constraints) > 0 {
		file, err := i.write("constraints.txt", i.Constraints)
		if err != nil {
			return nil, err
		}
		flags = append(flags, "--constraints", file)
	}
	return slices.Concat([]string{"install"}, flags, []string{"--requirements", list}), nil
}

// uv returns the path of uv: that on PATH, or one that the interpreter's pip has
// installed into the cache.
func (i *installer) uv(ctx context.Context) (string, error) {
	if path, err := i.client("uv"); err == nil {
		return i.box.client(path)
	}
	dir := filepath.Join(i.box.cache, "tools")
	path := filepath.Join(dir, "bin", "uv")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := i.command(ctx, i.base.path, "-I", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:", "--no-deps", "--target", dir, "uv"); err != nil {
		return "", fmt.Errorf("there is no uv on PATH, and pip cannot install it: %w", err)
	}
	// Installers cannot make files executable in every mode. The root keeps links
	// of theirs from leading out of the cache.
	cache, err := os.OpenRoot(i.box.cache)
	if err == nil {
		err = errors.Join(cache.Chmod("tools/bin/uv", 0o755), cache.Close())
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return path, nil
}
