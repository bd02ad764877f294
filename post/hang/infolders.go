package hang

import (
	"context"
	"errors"

	"busbar/post/input"
)

// InFolders is the finding on a hung job whose dumps are in folders of results, by default the usual one; nil without
// dumps.
func InFolders(ctx context.Context, folders []string) (*Finding, error) {
	if len(folders) == 0 {
		folders = []string{input.DefaultFolder}
	}
	files, err := Beside(ctx, folders)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	found, _, err := Read(ctx, files)
	if _, nothing := errors.AsType[*NothingError](err); nothing {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Analyze(*found), nil
}
