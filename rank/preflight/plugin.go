package preflight

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// netPlugin is where the loader would find NCCL's network plugin: on LD_LIBRARY_PATH, in its cache, in the
// standard folders. "" if not found, or if NCCL_NET_PLUGIN is none.
func netPlugin(root string, env func(string) string) string {
	names := []string{"libnccl-net.so"}
	switch want := env("NCCL_NET_PLUGIN"); {
	case want == "none":
		return ""
	case strings.Contains(want, "/"):
		return present(root, want)
	case want != "":
		names = []string{want, "libnccl-net-" + want + ".so"}
	}
	cache, _ := os.ReadFile(filepath.Join(root, "etc/ld.so.cache"))
	for _, name := range names {
		for _, dir := range slices.Concat(filepath.SplitList(env("LD_LIBRARY_PATH")), cachedFolders(cache, name),
			[]string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
			if path := present(root, filepath.Join(dir, name)); path != "" {
				return path
			}
		}
	}
	return ""
}

func present(root, path string) string {
	if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.IsDir() {
		return ""
	}
	return path
}

// cachedFolders is the folder in which the loader's cache has a library of that name, if any.
func cachedFolders(cache []byte, name string) []string {
	at := bytes.Index(cache, []byte("/"+name+"\x00"))
	if at < 0 {
		return nil
	}
	return []string{string(cache[bytes.LastIndexByte(cache[:at], 0)+1 : at])}
}
