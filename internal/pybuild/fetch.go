package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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

// fetch obtains what was not given.
func (b *build) fetch(ctx context.Context) error {
	dir := filepath.Join(b.work, "fetched")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if b.zig == "" {
		if err := b.fetchZig(ctx, dir); err != nil {
			return err
		}
	}
	if b.tzdata == "" {
		file, err := fetchWheel(ctx, dir, tzdataPackage)
		if err != nil {
			return err
		}
		b.tzdata = file
	}
	if b.sqlite == "" {
		out, err := command(ctx, dir, nil, "go", "mod", "download", "-json", sqliteModule)
		var m struct{ Dir string }
		if err = errors.Join(err, json.Unmarshal(out, &m)); err != nil {
			return err
		}
		b.sqlite = m.Dir
	}
	for _, s := range []struct {
		to     *string
		source string
	}{{&b.python, pythonSource}, {&b.zlib, zlibSource}, {&b.libc, libcSource}} {
		if *s.to != "" {
			continue
		}
		unpacked, archive, err := fetchSource(ctx, dir, s.source)
		if err != nil {
			return err
		}
		if *s.to = unpacked; s.to == &b.python {
			b.archive = archive
		}
	}
	return nil
}

// fetchWheel downloads a Python package.
func fetchWheel(ctx context.Context, dir, name string) (string, error) {
	if _, err := command(ctx, dir, nil, "python3", "-m", "pip", "download", "-q", "--no-deps", "-d", dir, name); err != nil {
		return "", err
	}
	return only(filepath.Join(dir, strings.ReplaceAll(name, "==", "-")+"-*.whl"))
}

func (b *build) fetchZig(ctx context.Context, dir string) error {
	wheel, err := fetchWheel(ctx, dir, zigPackage)
	if err != nil {
		return err
	}
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer archive.Close()
	b.zig = filepath.Join(dir, "zig", "ziglang", "zig")
	if _, err := os.Stat(b.zig); err == nil {
		return nil
	}
	if err := os.CopyFS(filepath.Join(dir, "zig"), archive); err != nil {
		return err
	}
	return os.Chmod(b.zig, 0o755)
}

// fetchSource downloads and unpacks a source package of Debian.
func fetchSource(ctx context.Context, dir, name string) (unpacked, archive string, err error) {
	short, version, _ := strings.Cut(name, "=")
	upstream := version[strings.IndexByte(version, ':')+1 : strings.LastIndexByte(version, '-')]
	sources := filepath.Join(dir, short)
	if err := os.MkdirAll(sources, 0o755); err != nil {
		return "", "", err
	}
	pattern := filepath.Join(sources, short+"_"+upstream+".orig.tar.*")
	if archive, err = only(pattern); err != nil {
		conf, err := aptConfig(ctx, dir)
		if err != nil {
			return "", "", err
		}
		if _, err := command(ctx, sources, conf, "apt-get", "source", "-q", "--download-only", "--tar-only", name); err != nil {
			return "", "", err
		}
		if archive, err = only(pattern); err != nil {
			return "", "", err
		}
	}
	if _, err := command(ctx, sources, nil, "tar", "xf", archive); err != nil {
		return "", "", err
	}
	list, err := filepath.Glob(filepath.Join(sources, "*", "README*"))
	if err != nil || len(list) == 0 {
		return "", "", fmt.Errorf("%s holds no sources", archive)
	}
	return filepath.Dir(list[0]), archive, nil
}

// aptConfig makes a configuration of its own that knows the sources of the newest and of
// this machine's Debian, and returns the environment for it.
func aptConfig(ctx context.Context, dir string) ([]string, error) {
	files, _ := filepath.Glob("/etc/apt/sources.list.d/*.sources") // the pattern is valid
	var from []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if m := regexp.MustCompile(`(?m)^URIs: (\S+/debian)/?$`).FindStringSubmatch(string(data)); m != nil {
			from = append(from, m[1])
		}
	}
	if len(from) == 0 {
		return nil, errors.New("this machine's package sources are not Debian's: give the directories of the sources")
	}
	apt := filepath.Join(dir, "apt")
	conf := filepath.Join(apt, "apt.conf")
	list := ""
	for _, suite := range []string{"bookworm", "sid"} {
		list += "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " + from[0] + " " + suite + " main\n"
	}
	for _, sub := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(apt, sub), 0o755); err != nil {
			return nil, err
		}
	}
	settings := fmt.Sprintf("Dir::Etc::SourceList %q;\nDir::Etc::SourceParts \"/nonexistent\";\nDir::State::Lists %q;\nDir::Cache %q;\n",
		filepath.Join(apt, "sources.list"), filepath.Join(apt, "lists"), filepath.Join(apt, "cache"))
	for name, text := range map[string]string{conf: settings, filepath.Join(apt, "sources.list"): list} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	env := []string{"APT_CONFIG=" + conf}
	_, err := command(ctx, dir, env, "apt-get", "update", "-q")
	return env, err
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
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}
