package sweeps

import (
	"embed"
	"io/fs"
)

//go:embed models/*.yaml
var models embed.FS

// Models are the files of the models of training steps that come with the tool. What stands in them is read by
// internal/step.
func Models() fs.FS {
	sub, err := fs.Sub(models, "models")
	if err != nil { // of a path that is not well formed alone
		panic(err)
	}
	return sub
}
