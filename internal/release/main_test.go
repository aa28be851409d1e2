package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestDescribe describes this test's own binary.
func TestDescribe(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program.exe")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := describe(file); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(filepath.Join(filepath.Dir(file), "program.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(in, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.Metadata.Component.Name != "program.exe" || !slices.ContainsFunc(*bom.Components, func(c cdx.Component) bool {
		return c.Name == "github.com/CycloneDX/cyclonedx-go" && c.Version != "" && c.Properties != nil
	}) {
		t.Errorf("%+v", bom)
	}
	if err := describe(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there was described")
	}
}
