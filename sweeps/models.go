package sweeps

import (
	"embed"
	"io/fs"
)

//go:embed models/*.yaml
var models embed.FS

// Models returns the embedded models of training steps; internal/step parses them.
func Models() fs.FS {
	sub, err := fs.Sub(models, "models")
	if err != nil { // only for a malformed path
		panic(err)
	}
	return sub
}
