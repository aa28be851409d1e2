// Command release writes beside each binary of a release what is in it: its
// modules with versions and checksums, as a CycloneDX list in JSON.
//
//	release dist/toolcell_linux_amd64 ...
package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	for _, file := range os.Args[1:] {
		if err := describe(file); err != nil {
			fmt.Fprintln(os.Stderr, "release:", err)
			os.Exit(1)
		}
	}
}

// describe writes FILE.cdx.json beside a Go program.
func describe(file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	out, err := os.Create(strings.TrimSuffix(file, ".exe") + ".cdx.json")
	if err != nil {
		return err
	}
	return errors.Join(cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(list(filepath.Base(file), info)), out.Close())
}

// list returns what a program was built from.
func list(name string, info *debug.BuildInfo) *cdx.BOM {
	bom := cdx.NewBOM()
	main := component(cdx.ComponentTypeApplication, &info.Main)
	main.Name = name
	bom.Metadata = &cdx.Metadata{Component: &main}
	all := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, Name: "std", BOMRef: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, component(cdx.ComponentTypeLibrary, m))
	}
	bom.Components = &all
	return bom
}

func component(kind cdx.ComponentType, m *debug.Module) cdx.Component {
	c := cdx.Component{Type: kind, Name: m.Path, Version: m.Version, BOMRef: m.Path, PackageURL: "pkg:golang/" + m.Path + "@" + m.Version}
	if m.Sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: m.Sum}}
	}
	return c
}
