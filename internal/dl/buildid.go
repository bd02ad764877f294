package dl

import (
	"debug/elf"
	"encoding/hex"
	"io"
)

// BuildID is the GNU build id of an ELF file in hexadecimal; "" if the file has none or cannot be read.
func BuildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	// The segments, not the sections: a stripped file may have no section table.
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > 1<<16 {
			continue
		}
		notes, err := io.ReadAll(p.Open())
		if err != nil {
			return ""
		}
		if id := gnuBuildID(notes, f); id != "" {
			return id
		}
	}
	return ""
}

// gnuBuildID finds the note of name GNU and type 3 (NT_GNU_BUILD_ID): three words (sizes of name and content, type),
// then name and content, each padded to four bytes.
func gnuBuildID(notes []byte, f *elf.File) string {
	padded := func(n uint32) int { return int(n+3) &^ 3 }
	for len(notes) >= 12 {
		nameSize, size := f.ByteOrder.Uint32(notes), f.ByteOrder.Uint32(notes[4:])
		kind := f.ByteOrder.Uint32(notes[8:])
		if nameSize > 1<<16 || size > 1<<16 {
			return ""
		}
		content := 12 + padded(nameSize)
		if content+int(size) > len(notes) {
			return ""
		}
		if kind == 3 && string(notes[12:12+nameSize]) == "GNU\x00" {
			return hex.EncodeToString(notes[content : content+int(size)])
		}
		notes = notes[min(content+padded(size), len(notes)):]
	}
	return ""
}
