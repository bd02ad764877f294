package preflight

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// netPlugin returns the path of NCCL's network plugin: from LD_LIBRARY_PATH, the loader's cache, or the standard
// folders. It is "" if not found, or if NCCL_NET_PLUGIN is none.
func netPlugin(root string, env func(string) string) string {
	names := []string{"libnccl-net.so"}
	switch plugin := env("NCCL_NET_PLUGIN"); {
	case plugin == "none":
		return ""
	case strings.Contains(plugin, "/"):
		return present(root, plugin)
	case plugin != "":
		names = []string{plugin, "libnccl-net-" + plugin + ".so"}
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

// cachedFolders returns the folder of a library in the loader's cache, if any.
func cachedFolders(cache []byte, name string) []string {
	at := bytes.Index(cache, []byte("/"+name+"\x00"))
	if at < 0 {
		return nil
	}
	return []string{string(cache[bytes.LastIndexByte(cache[:at], 0)+1 : at])}
}
