package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// wheel is a Python wheel without Python code: pip puts its program, post, on PATH as busbar.
type wheel struct {
	version, tags     string // platforms, joined by dots
	program, licenses string // a file and a folder
	date              time.Time
}

const metadata = `Metadata-Version: 2.1
Name: busbar
Version: %s
Summary: Analyze results of collective communication benchmarks, NCCL logs and traces
License: BSD-3-Clause
Platform: any
Description-Content-Type: text/markdown

The command ` + "`busbar`" + ` is the program that busbar's documentation names ` + "`post`" + `: it analyzes results of
busbar, nccl-tests, OSU and IMB, logs of NCCL, and traces of PyTorch and Nsight Systems.
` + "`busbar --help`" + ` lists the commands.
`

// write makes the file to. The version's "+" is the same in a file name.
func (w wheel) write(to string) error {
	info := fmt.Sprintf("busbar-%s.dist-info/", w.version)
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	z := packer{zip: zip.NewWriter(file), date: w.date}
	z.copy(fmt.Sprintf("busbar-%s.data/scripts/busbar", w.version), w.program, 0o755)
	z.add(info+"METADATA", 0o644, fmt.Appendf(nil, metadata, w.version))
	z.add(info+"WHEEL", 0o644, []byte(w.description()))
	err = filepath.WalkDir(w.licenses, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(w.licenses, path)
			z.copy(info+"licenses/"+filepath.ToSlash(name), path, 0o644)
		}
		return err
	})
	z.record.WriteString(info + "RECORD,,\n")
	z.add(info+"RECORD", 0o644, z.record.Bytes())
	return errors.Join(err, z.err, z.zip.Close(), file.Close())
}

// description is the file WHEEL.
func (w wheel) description() string {
	text := "Wheel-Version: 1.0\nGenerator: busbar\nRoot-Is-Purelib: false\n"
	for platform := range strings.SplitSeq(w.tags, ".") {
		text += "Tag: py3-none-" + platform + "\n"
	}
	return text
}

// packer adds files to an archive and to its record. After an error it does nothing.
type packer struct {
	zip    *zip.Writer
	date   time.Time
	record bytes.Buffer
	err    error
}

func (p *packer) copy(name, path string, mode fs.FileMode) {
	data, err := os.ReadFile(path)
	p.err = errors.Join(p.err, err)
	p.add(name, mode, data)
}

func (p *packer) add(name string, mode fs.FileMode, data []byte) {
	if p.err != nil {
		return
	}
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: p.date}
	header.SetMode(mode)
	to, err := p.zip.CreateHeader(header)
	if err == nil {
		_, err = to.Write(data)
	}
	p.err = err
	sum := sha256.Sum256(data)
	fmt.Fprintf(&p.record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
}
