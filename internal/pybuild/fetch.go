package pybuild

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/providers/inmemory/python/pack"
)

// What is obtained, by name and version.
const (
	zigPackage    = "ziglang==0.17.1"
	tzdataPackage = "tzdata==2026.6"
	sqliteModule  = "github.com/mattn/go-sqlite3@v1.14.53"

	pythonSource = "python3.13=3.13.15-1"
	zlibSource   = "zlib=1:1.2.13.dfsg-1"
	libcSource   = "wasi-libc=0.0~git20220510.9886d3d-2"
)

// fetch obtains what is not in the work directory.
func (b *build) fetch(ctx context.Context) (err error) {
	dir := filepath.Join(b.work, "fetched")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if b.zig, err = fetchZig(ctx, dir); err != nil {
		return err
	}
	if b.tzdata, err = Wheel(ctx, dir, tzdataPackage); err != nil {
		return err
	}
	out, err := command(ctx, dir, "go", "mod", "download", "-json", sqliteModule)
	var m struct{ Dir string }
	if err = errors.Join(err, json.Unmarshal(out, &m)); err != nil {
		return err
	}
	b.sqlite = m.Dir
	for _, s := range []struct {
		to           *string
		source, name string
	}{{&b.python, pythonSource, "CPython"}, {&b.zlib, zlibSource, "zlib"}, {&b.libc, libcSource, "math of musl, in wasi-libc"}} {
		archive, err := fetchSource(ctx, dir, s.source)
		if err == nil {
			err = b.pinned(s.name, archive)
		}
		if err == nil {
			*s.to, err = unpack(ctx, archive)
		}
		if err != nil {
			return err
		}
	}
	return b.pinned("tzdata", b.tzdata)
}

// pinned compares a file with the sum that the recipe has of the source.
func (b *build) pinned(name, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	if !slices.ContainsFunc(b.recipe.Sources, func(s pack.Source) bool { return s.Name == name && s.SHA256 == sum }) {
		return fmt.Errorf("%s is not the expected source: its SHA-256 is %s", file, sum)
	}
	return nil
}

// Wheel has pip download a package of PyPI, NAME==VERSION, and returns the file. It is not
// downloaded again.
func Wheel(ctx context.Context, dir, name string) (string, error) {
	pattern := filepath.Join(dir, strings.NewReplacer("==", "-", "-", "_").Replace(name)+"-*.whl")
	if file, err := only(pattern); err == nil {
		return file, nil
	}
	if _, err := command(ctx, dir, "python3", "-m", "pip", "download", "-q", "--no-deps", "-d", dir, name); err != nil {
		return "", err
	}
	return only(pattern)
}

func fetchZig(ctx context.Context, dir string) (string, error) {
	wheel, err := Wheel(ctx, dir, zigPackage)
	if err != nil {
		return "", err
	}
	zig := filepath.Join(dir, "zig", "ziglang", "zig")
	if _, err := os.Stat(zig); err == nil {
		return zig, nil
	}
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	return zig, errors.Join(os.CopyFS(filepath.Join(dir, "zig"), archive), os.Chmod(zig, 0o755))
}

// fetchSource downloads a source package of Debian.
func fetchSource(ctx context.Context, dir, name string) (archive string, err error) {
	short, version, _ := strings.Cut(name, "=")
	upstream := version[strings.IndexByte(version, ':')+1 : strings.LastIndexByte(version, '-')]
	sources := filepath.Join(dir, short)
	if err := os.MkdirAll(sources, 0o755); err != nil {
		return "", err
	}
	pattern := filepath.Join(sources, short+"_"+upstream+".orig.tar.*")
	if archive, err := only(pattern); err == nil {
		return archive, nil
	}
	apt, err := aptOptions(dir)
	for _, args := range [][]string{{"update"}, {"source", "--download-only", "--tar-only", name}} {
		if err == nil {
			_, err = command(ctx, sources, "apt-get", slices.Concat(apt, args)...)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w; without apt-get, put %s into the work directory", err, pattern)
	}
	return only(pattern)
}

// unpack unpacks an archive where it is, and returns its one directory.
func unpack(ctx context.Context, archive string) (string, error) {
	dir := filepath.Dir(archive)
	if _, err := command(ctx, dir, "tar", "xf", archive); err != nil {
		return "", err
	}
	readme, err := only(filepath.Join(dir, "*", "README*"))
	return filepath.Dir(readme), err
}

// debian is the line of a machine's package sources with the address of Debian's.
var debian = regexp.MustCompile(`(?m)^URIs: (\S+/debian)/?$`)

// aptOptions are those by which apt-get knows the sources of the newest and of this machine's
// Debian, and keeps what it learns in a directory.
func aptOptions(dir string) ([]string, error) {
	data, err := os.ReadFile("/etc/apt/sources.list.d/debian.sources")
	from := debian.FindSubmatch(data)
	if err == nil && from == nil {
		err = errors.New("this machine's package sources are not Debian's")
	}
	if err != nil {
		return nil, err
	}
	apt, sources := filepath.Join(dir, "apt"), ""
	for _, suite := range []string{"bookworm", "sid"} {
		sources += fmt.Sprintf("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n", from[1], suite)
	}
	err = errors.Join(os.MkdirAll(filepath.Join(apt, "lists", "partial"), 0o755), os.MkdirAll(filepath.Join(apt, "cache", "archives", "partial"), 0o755),
		os.WriteFile(filepath.Join(apt, "sources.list"), []byte(sources), 0o644))
	return []string{"-q", "-o", "Dir::Etc::SourceParts=/nonexistent", "-o", "Dir::Etc::SourceList=" + filepath.Join(apt, "sources.list"),
		"-o", "Dir::State::Lists=" + filepath.Join(apt, "lists"), "-o", "Dir::Cache=" + filepath.Join(apt, "cache")}, err
}

// only returns the file that matches a pattern.
func only(pattern string) (string, error) {
	list, err := filepath.Glob(pattern)
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("%d files match %s", len(list), pattern)
	}
	if err != nil {
		return "", err
	}
	return list[0], nil
}

// command runs a program and returns what it prints.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}
