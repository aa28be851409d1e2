//go:build unix

package subprocess

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox"
)

// An installer is the command lines that make an environment and add packages to
// it: those of uv from its cache or the network, those of pip from directories
// of wheels, which another command line fetches.
type installer struct {
	make, add []string
	offline   []string // arguments of add that keep it from the network
	fetch     []string // nil: add does that; a directory follows
}

// pipVersion has Python say which pip it has, without the second that pip takes
// to start.
const pipVersion = "import importlib.metadata; print(importlib.metadata.version('pip'))"

// installer returns that of uv; without uv, of the interpreter's own pip, which
// can install elsewhere since 22.3; else of a pip inside of the environment, which
// takes long to set up.
func (b *builder) installer(ctx context.Context) (installer, error) {
	inside := filepath.Join(b.dir, "bin", "python")
	if uv, err := b.lookPath("uv"); err == nil {
		uv, err := b.enclosure.client(uv)
		return installer{
			make:    []string{uv, "venv", "-q", "--python", b.python, b.dir},
			add:     []string{uv, "pip", "install", "-q", "--no-build", "--python", inside},
			offline: []string{"--offline"},
		}, err
	}
	venv, pip := []string{b.python, "-I", "-m", "venv"}, []string{inside, "-I", "-m", "pip"}
	if printed, err := b.run(ctx, "", []string{b.python, "-I", "-c", pipVersion}); err == nil && !older(version().FindString(printed), "22.3") {
		venv = append(venv, "--without-pip")
		pip = []string{b.python, "-I", "-m", "pip", "--python", inside}
	}
	pip = append(pip, "--disable-pip-version-check")
	// So that neither of the appends below writes into the other's.
	pip = pip[:len(pip):len(pip)]
	return installer{
		make:    append(venv, b.dir),
		add:     append(pip, "install", "-q", "--no-input", "--only-binary", ":all:", "--no-compile"),
		offline: []string{"--no-index", "--find-links", b.wheels},
		fetch:   append(pip, "download", "-q", "--no-input", "--only-binary", ":all:", "-d"),
	}, nil
}

// install makes the environment and returns what it holds.
func (b *builder) install(ctx context.Context) (lock string, err error) {
	i, err := b.installer(ctx)
	if err != nil {
		return "", err
	}
	before, err := b.add(ctx, i)
	if err != nil {
		return "", err
	}
	// Programs cannot keep what they compile. What does not compile says so when
	// it is imported.
	compile := []string{b.python, "-I", "-m", "compileall", "-q", filepath.Join(b.dir, "lib")}
	if _, err := b.run(ctx, "compiling", compile); ctx.Err() != nil {
		return "", err
	}
	if err := before.check(b); err != nil {
		return "", err
	}
	return b.list()
}

// add makes an environment of the packages, exact ones without the network where that
// can be, and returns what it was before they came.
func (b *builder) add(ctx context.Context, i installer) (*shell, error) {
	before, err := b.empty(ctx, i)
	if err != nil {
		return nil, err
	}
	constraints, err := b.constraints()
	if err != nil {
		return nil, err
	}
	packages := slices.Concat(constraints, []string{"--"}, b.packages)
	if !b.exact {
		return before, b.fetchAndAdd(ctx, i, packages)
	}
	packages = slices.Concat([]string{"--no-deps"}, packages)
	if _, err := b.run(ctx, b.what(), slices.Concat(i.add, i.offline, packages)); err == nil || ctx.Err() != nil {
		return before, err
	}
	// Some may be there, and would run with the environment's Python.
	if before, err = b.empty(ctx, i); err != nil {
		return nil, err
	}
	return before, b.fetchAndAdd(ctx, i, packages)
}

// fetchAndAdd installs the packages that the end of the arguments names, with the
// network.
func (b *builder) fetchAndAdd(ctx context.Context, i installer, packages []string) error {
	if i.fetch == nil {
		_, err := b.run(ctx, b.what(), slices.Concat(i.add, packages))
		return err
	}
	fetched := filepath.Join(b.dir, wheelsDir)
	if _, err := b.run(ctx, b.what(), slices.Concat(i.fetch, []string{fetched}, packages)); err != nil {
		return err
	}
	if _, err := b.run(ctx, b.what(), slices.Concat(i.add, []string{"--no-index", "--find-links", fetched}, packages)); err != nil {
		return err
	}
	return b.keep(fetched)
}

// what says what b.run does then.
func (b *builder) what() string {
	return "installing " + strings.Join(b.packages, ", ")
}

// constraints returns the arguments that keep versions as programs have them.
func (b *builder) constraints() ([]string, error) {
	if len(b.beside) == 0 {
		return nil, nil
	}
	file := filepath.Join(b.temp, "constraints.txt")
	lines := slices.DeleteFunc(slices.Clone(b.beside), func(line string) bool { return !pinned().MatchString(line) })
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return nil, fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return []string{"--constraint", file}, nil
}

// keep puts wheels beside the environments, each whole, and removes the
// directory that they came into.
func (b *builder) keep(fetched string) error {
	err := b.enclosure.take(fetched)
	if err == nil {
		err = os.MkdirAll(b.wheels, 0o755)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	wheels, err := os.ReadDir(fetched)
	for _, w := range wheels {
		if w.Type().IsRegular() {
			err = errors.Join(err, os.Rename(filepath.Join(fetched, w.Name()), filepath.Join(b.wheels, w.Name())))
		}
	}
	if err = errors.Join(err, sandbox.RemoveAll(fetched)); err != nil {
		return fmt.Errorf("%w: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}

// list returns what was installed, by the directories of metadata. Wheels name
// them, and other installations read the names.
func (b *builder) list() (string, error) {
	found, err := filepath.Glob(filepath.Join(b.dir, "lib", "*", "site-packages", "*.dist-info"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%w: nothing was installed", codeinterp.ErrUnavailable)
	}
	var lock []string
	for _, dir := range found {
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(dir), ".dist-info"), "-")
		line := strings.ToLower(strings.ReplaceAll(name, "_", "-")) + "==" + version
		if !pinned().MatchString(line) {
			return "", fmt.Errorf("%w: a package calls itself %.100q", codeinterp.ErrUnavailable, filepath.Base(dir))
		}
		lock = append(lock, line+"\n")
	}
	slices.Sort(lock)
	return strings.Join(lock, ""), nil
}

// run runs one of the installers and returns the end of what it prints.
func (b *builder) run(ctx context.Context, what string, args []string) (string, error) {
	run := b.runAsHost
	if b.enclosure != nil {
		run = b.enclosure.run
	}
	out, errs, err := run(ctx, args, b.meter)
	switch {
	case errors.Is(err, codeinterp.ErrQuota):
		return "", fmt.Errorf("%s: %w", what, err)
	case err != nil:
		return "", fmt.Errorf("%w: %s: %s", codeinterp.ErrUnavailable, what, complaint(errs.String()+out.String(), err))
	}
	return out.String(), nil
}

// runAsHost runs an installer that nothing isolates. It holds the lock.
func (b *builder) runAsHost(ctx context.Context, args []string, m *meter) (out, errs *tail, err error) {
	out, errs = &tail{}, &tail{}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "TMPDIR="+b.temp) // what is killed leaves it full
	cmd.ExtraFiles = []*os.File{b.held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// With its group: installers start processes of their own.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		return out, errs, err
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { m.watch(cmd.Process.Pid, done) })
	err = cmd.Wait()
	close(done)
	watching.Wait()
	m.weigh()
	return out, errs, err
}

// complaint returns the end of what an installer printed.
func complaint(printed string, err error) string {
	printed = strings.ToValidUTF8(strings.TrimSpace(printed), "\uFFFD")
	if printed == "" {
		return err.Error()
	}
	lines := strings.Split(printed, "\n")
	printed = strings.Join(lines[max(0, len(lines)-4):], "; ")
	return printed[max(0, len(printed)-600):]
}
