package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// sbom is a software bill of materials in CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/).
type sbom struct {
	Format       string       `json:"bomFormat"`
	Specified    string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     about        `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type about struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type dependency struct {
	Ref  string   `json:"ref"`
	Uses []string `json:"dependsOn"`
}

// inventory collects the parts of a release by their references.
type inventory struct {
	version  string
	programs []component
	parts    map[string]component
	uses     map[string][]string // of a program or a bundle
}

func writeSBOM(to, version string, date time.Time, files []string) error {
	all := inventory{version: version, parts: map[string]component{}, uses: map[string][]string{}}
	for _, f := range files {
		name, path, ok := strings.Cut(f, "=")
		add := all.addProgram
		if strings.HasSuffix(path, "VERSIONS") {
			add = all.addPackages
		}
		if !ok {
			return fmt.Errorf("%s has no path", f)
		}
		if err := add(name, path); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(all.document(date), "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(text, '\n'), 0o644)
}

// addProgram adds a Go program with its modules and Go itself.
func (all *inventory) addProgram(name, path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	all.programs = append(all.programs, component{Type: "application", Ref: name, Name: name, Version: all.version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}})
	all.use(name, "golang/", "std", strings.TrimPrefix(info.GoVersion, "go"), "")
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		all.use(name, "golang/", m.Path, m.Version, "")
	}
	return nil
}

// addPackages adds the Debian packages of a bundle. A line of their list is "libopenmpi3 4.1.4-3, source package …".
func (all *inventory) addPackages(name, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, architecture, _ := strings.Cut(name, ":")
	all.programs = append(all.programs, component{Type: "application", Ref: name, Name: name, Version: all.version})
	for line := range strings.Lines(string(text)) {
		binary, _, _ := strings.Cut(line, ",")
		pkg, version, ok := strings.Cut(binary, " ")
		if !ok {
			return fmt.Errorf("%s: no version in %q", path, line)
		}
		all.use(name, "deb/debian/", pkg, version, "?arch="+architecture)
	}
	return nil
}

// use records that a program or bundle uses a library. Its reference is its package URL, of this type and qualifier.
func (all *inventory) use(by, kind, name, version, qualifier string) {
	ref := "pkg:" + kind + name + "@" + url.QueryEscape(version) + qualifier
	all.parts[ref] = component{Type: "library", Ref: ref, Name: name, Version: version, PURL: ref}
	all.uses[by] = append(all.uses[by], ref)
}

func (all *inventory) document(date time.Time) sbom {
	whole := component{Type: "application", Ref: "busbar", Name: "busbar", Version: all.version}
	d := sbom{Format: "CycloneDX", Specified: "1.5", Version: 1, Components: all.programs,
		Metadata: about{date.Format(time.RFC3339), whole}}
	top := dependency{Ref: whole.Ref}
	for _, p := range all.programs {
		top.Uses = append(top.Uses, p.Ref)
	}
	d.Dependencies = append(d.Dependencies, top)
	for _, p := range all.programs {
		d.Dependencies = append(d.Dependencies, dependency{p.Ref, slices.Sorted(slices.Values(all.uses[p.Ref]))})
	}
	for _, ref := range slices.Sorted(maps.Keys(all.parts)) {
		d.Components = append(d.Components, all.parts[ref])
	}
	return d
}
