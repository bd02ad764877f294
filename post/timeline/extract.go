package timeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"busbar/internal/notice"
	"busbar/post/atomicfile"
	"busbar/post/trace"
)

// Extract reduces each trace found to a facts file in a folder, and calls done with its path. What is unreadable in
// a folder is skipped with a notice; a named file that is unreadable is an error after the others are extracted.
// tool is the name with which o.Tool begins.
func Extract(
	ctx context.Context, dir, tool string, paths []string, o Options, done func(string),
) ([]notice.Notice, error) {
	files, problems, err := trace.Files(paths)
	if err != nil {
		return nil, err
	}
	extracted := 0
	for _, path := range files {
		r, err := read(ctx, path, o)
		switch {
		case ctx.Err() != nil:
			return problems, context.Cause(ctx)
		case err == nil && r.File.Facts != "":
			err = errors.New("this is a facts file: extract traces")
		}
		if err != nil {
			problems = append(problems, notice.OfError(path, err))
			continue
		}
		name := r.name()
		if err := atomicfile.MayReplace(dir, tool, name); err != nil {
			return problems, err
		}
		target := filepath.Join(dir, name)
		if err := atomicfile.Write(ctx, []string{target}, func(w []io.Writer) error {
			return r.write(w[0], o.Tool)
		}); err != nil {
			return problems, err
		}
		extracted++
		done(target)
	}
	if extracted == 0 || named(paths, problems) {
		return nil, noTrace(paths, problems)
	}
	return problems, nil
}

// name returns the name of a file's facts. Extracted again, anywhere, a trace has the same name; no other trace has
// it: it depends on the path and the devices.
func (r *reduced) name() string {
	path, _ := filepath.Abs(r.File.Path) // fails without a working folder
	id := sha256.Sum256([]byte(path + r.identities()[0]))
	return fmt.Sprintf("%s-%x.facts", filepath.Base(path), id[:8])
}

// identities are equal for a trace and its facts, wherever they are: that of what was recorded, "" without devices.
// Another is that of the rank of a job that wrote to a path: facts of an earlier recording have it too.
func (r *reduced) identities() []string {
	all := []string{""}
	for _, d := range r.devices {
		rank := valueOr(d.Rank, -1)
		all[0] += fmt.Sprintln(rank, valueOr(d.Process, -1), d.Host, d.ID, d.origin, d.Span)
		if rank >= 0 && d.World > 0 {
			all = append(all, fmt.Sprintln(r.File.Path, rank, d.World))
		}
	}
	return all
}

// source is the file that was read.
func (r *reduced) source() string { return cmp.Or(r.File.Facts, r.File.Path) }

// read reads a trace or a facts file. No error names the path.
func read(ctx context.Context, path string, o Options) (*reduced, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head := make([]byte, len(trace.FactsMagic))
	if _, _ = io.ReadFull(file, head); bytes.Equal(head, []byte(trace.FactsMagic)) {
		r, err := readFacts(io.MultiReader(bytes.NewReader(head), file))
		if err == nil {
			r.File.Facts = path
		}
		return r, err
	}
	reading := trace.Options{}
	if o.StepPattern != nil {
		reading.KeepRange = o.StepPattern.MatchString
	}
	f, err := trace.Read(ctx, path, reading)
	if err != nil {
		return nil, err
	}
	return reduce(f, o), nil
}

// agree reports an error if a file was analysed with other options than those before it. Facts bring their options
// where the user sets none.
func (b *Builder) agree(r *reduced) error {
	rule, top := &b.timeline.Rule, &b.options.Top
	if len(b.timeline.Files) == 0 {
		*rule = Rule{cmp.Or(rule.CommPattern, r.Rule.CommPattern), cmp.Or(rule.StepPattern, r.Rule.StepPattern)}
		*top = cmp.Or(*top, r.Top)
	}
	if r.Top < *top {
		return fmt.Errorf("%s has only --top %d: use that, or extract the traces again", r.source(), r.Top)
	}
	for i := range r.devices {
		d := &r.devices[i]
		d.Top = d.Top[:min(*top, len(d.Top))]
	}
	return rule.agree(r.source(), r.Rule)
}

// agree reports an error if a path has another rule.
func (r Rule) agree(path string, other Rule) error {
	if r == other {
		return nil
	}
	return fmt.Errorf("%s has --comm-pattern %q --step-pattern %q, not %q and %q: set the same for all, or extract "+
		"the traces again", path, other.CommPattern, other.StepPattern, r.CommPattern, r.StepPattern)
}
