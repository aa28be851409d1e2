//go:build unix

package environments

import (
	"context"
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
	if _, err := i.command(ctx, uv, "venv", "-q", "--relocatable", "--python", i.base.path, i.made); err != nil {
		return nil, err
	}
	add, err := i.addPython()
	if err != nil {
		return nil, err
	}
	add = append([]string{uv, "pip"}, add...)
	if _, err = i.command(ctx, add...); err != nil {
		return nil, err
	}
	// Programs cannot keep what they compile. What does not compile fails when it is
	// imported.
	if _, err := i.command(ctx, i.base.path, "-I", "-m", "compileall", "-q", filepath.Join(i.made, "lib")); ctx.Err() != nil {
		return nil, err
	}
	frozen, err := i.command(ctx, uv, "pip", "freeze", "-q", "--python", filepath.Join(i.made, "bin", "python"))
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
	flags := []string{"-q", "--only-binary", ":all:", "--python", filepath.Join(i.made, "bin", "python")}
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

// uv returns the path of uv: that on PATH, or one that the interpreter's pip has installed
// into Root.
func (i *installer) uv(ctx context.Context) (string, error) {
	if path, err := i.client("uv"); err == nil {
		return path, i.show(path)
	}
	place := filepath.Join(i.Root, toolDir)
	path := filepath.Join(place, "bin", "uv")
	if _, err := os.Stat(path); err != nil {
		dir := filepath.Join(i.temp, "uv")
		if _, err := i.command(ctx, i.base.path, "-I", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:", "--no-deps", "--target", dir, "uv"); err != nil {
			return "", fmt.Errorf("there is no uv on PATH, and pip cannot install it: %w", err)
		}
		if err := i.take(dir); err != nil {
			return "", unavailable(err)
		}
		_ = os.Rename(dir, place) // another process may have been faster
		if _, err := os.Stat(path); err != nil {
			return "", unavailable(err)
		}
	}
	i.read(place)
	return path, nil
}
