package subprocess

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
)

// InstallFunction is the name of the function of the host that installs packages for
// Python programs, if [Options].Install is set. Result.Calls records its calls; a
// Function of the caller's with the same name takes its place.
const InstallFunction = "install_packages"

// Install lets Python programs have packages that are not there: an import of a
// missing module, by the program itself and not by a library, and the line
// %pip install NAME, or !pip install NAME, install it with what it needs, as
// [environments.New] does: by the host, of wheels only. What is installed can be
// imported by programs of the same run or context and by no other; the
// interpreter's own packages stay what they are, and keep their versions. The
// program's standard error tells it, and so does Result.Calls. The time that it
// takes counts in the run's.
//
// A program can name any package, and anyone can register a name: list the packages that
// are wanted, or ask a person.
type Install struct {
	// Packages are the names that may be installed without a question; "*"
	// stands for all. What they depend on comes with them.
	Packages []string

	// Approve, if set, decides about packages that are not in Packages. It
	// gets requirements such as "pandas>=2", as programs write them. An error
	// refuses them, and its text is what the program reads. It may block until
	// ctx, the run's, ends, and must be safe for concurrent use.
	Approve func(ctx context.Context, packages []string) error

	// Root is the directory that is installed into, see
	// environments.Options.Root. Programs can read all of it.
	Root string

	// Disk bounds the bytes that the installations of one run or context may write
	// together. Zero means 4 GiB.
	Disk int64
}

// maxInstalls is how often the programs of one run or context can have packages
// installed.
const maxInstalls = 64

// check validates the options and returns a copy of them.
func (i *Install) check() (*Install, error) {
	if i == nil {
		return nil, nil
	}
	own := *i
	if len(i.Packages) == 0 && i.Approve == nil {
		return nil, fmt.Errorf("%w: Install with neither Packages nor Approve allows none", codeinterp.ErrInvalid)
	}
	if own.Disk < 0 {
		return nil, fmt.Errorf("%w: Install with a Disk of %d", codeinterp.ErrInvalid, own.Disk)
	}
	own.Disk = cmp.Or(own.Disk, 4<<30)
	own.Packages = nil
	for _, name := range i.Packages {
		if name != "*" && !packageName().MatchString(name) {
			return nil, fmt.Errorf("%w: Install: %.80q is not the name of a package", codeinterp.ErrInvalid, name)
		}
		own.Packages = append(own.Packages, normal(name))
	}
	return &own, nil
}

// pinned matches a line of a Lock.
var pinned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*==[A-Za-z0-9.+!_-]+$`) })

// packageName is what a requirement begins with.
var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`) })

// nameOf returns the package's name of a requirement, in the form of normal.
func nameOf(requirement string) string {
	end := strings.IndexFunc(requirement, func(r rune) bool {
		return !strings.ContainsRune("._-", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end >= 0 {
		requirement = requirement[:end]
	}
	return normal(requirement)
}

// normal is a name in the form in which names are compared.
func normal(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}

// allow asks the policy about packages that a program wants. What the policy
// says is for the program to read.
func (i *Install) allow(ctx context.Context, packages []string) error {
	var others []string
	for _, p := range packages {
		if !slices.Contains(i.Packages, "*") && !slices.Contains(i.Packages, nameOf(p)) {
			others = append(others, p)
		}
	}
	switch {
	case len(others) == 0:
		return nil
	case i.Approve == nil:
		return fmt.Errorf("%s may not be installed here; %s", strings.Join(others, ", "), i.notes())
	}
	if err := i.Approve(ctx, others); err != nil {
		return fmt.Errorf("%s may not be installed: %w", strings.Join(others, ", "), err)
	}
	return nil
}

// notes says to a model what may be installed.
func (i *Install) notes() string {
	switch {
	case slices.Contains(i.Packages, "*"):
		return "missing modules are installed when they are imported, and by a line %pip install NAME"
	case len(i.Packages) == 0:
		return "missing modules are installed when they are imported, or by a line %pip install NAME, if that is approved"
	case i.Approve != nil:
		return "missing modules are installed when they are imported, or by a line %pip install NAME: at once " + strings.Join(i.Packages, ", ") + ", others if that is approved"
	}
	return "of missing modules these are installed when they are imported, or by a line %pip install NAME: " + strings.Join(i.Packages, ", ")
}

// PackageOf names the package that a Python module comes in: by the module's own
// name, where it is not known to have another.
func PackageOf(module string) string {
	name, _, _ := strings.Cut(module, ".")
	others := map[string]string{
		"PIL": "pillow", "attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv-python-headless", "dateutil": "python-dateutil",
		"docx": "python-docx", "dotenv": "python-dotenv", "fitz": "pymupdf", "pptx": "python-pptx", "skimage": "scikit-image",
		"sklearn": "scikit-learn", "yaml": "pyyaml",
	}
	return cmp.Or(others[name], name)
}
