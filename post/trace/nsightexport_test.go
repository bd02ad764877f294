package trace_test

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"github.com/shoenig/test/must"
)

// exportRows are the kinds of lines of an export: each is a row of a table with its columns in this order. The last
// column takes the rest of the line; "-" is null.
var exportRows = map[string]struct{ table, columns string }{
	"kernel": {"CUPTI_ACTIVITY_KIND_KERNEL",
		"globalPid deviceId streamId start end correlationId graphNodeId demangledName"},
	"copy":    {"CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid deviceId streamId start end correlationId copyKind bytes"},
	"memset":  {"CUPTI_ACTIVITY_KIND_MEMSET", "globalPid deviceId streamId start end correlationId bytes"},
	"graph":   {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "globalPid deviceId streamId start end correlationId graphExecId"},
	"call":    {"CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid start end correlationId"},
	"range":   {"NVTX_EVENTS", "globalTid start end eventType text"},
	"nccl":    {"NVTX_EVENTS", "globalTid start end eventType textId binaryData"},
	"schema":  {"NVTX_PAYLOAD_SCHEMA_ENTRIES", "domainId schemaId type offset name"},
	"string":  {"StringIds", "id value"},
	"export":  {"META_DATA_EXPORT", "name value"},
	"capture": {"META_DATA_CAPTURE", "name value"},
	"system":  {"TARGET_INFO_SYSTEM_ENV", "name value"},
	"began":   {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs"},
	"gpu":     {"TARGET_INFO_GPU", "id name"},
	"device":  {"TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid"},
	"details": {"ANALYSIS_DETAILS", "startTime stopTime"},
	"message": {"DIAGNOSTIC_EVENT", "severity text"},
	"mpi":     {"MPI_RANKS", "globalTid rank"},
}

// payloadFields are the numeric fields of NCCL's ranges, with NVTX's type: 5 is int, 18 uint64, 22 size_t, and the
// last is a type that NCCL defines.
var payloadFields = map[string]struct {
	name string
	kind int
}{"comm": {"NCCL communicator ID", 18}, "bytes": {"Message size [bytes]", 22}, "op": {"Reduction operation", 16777232},
	"peer": {"Peer rank", 5}, "ranks": {"No. of ranks", 5}, "rank": {"Rank", 5}, "device": {"CUDA device", 5}}

// export is an export under construction.
type export struct {
	t       testing.TB
	db      *sql.DB
	strings map[string]int64
	known   map[string]bool // tables and payload schemas
}

// writeExport writes an export of Nsight Systems with lines of exportRows.
func writeExport(t testing.TB, name, lines string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=synchronous(0)"}).String())
	must.NoError(t, err)
	e := &export{t: t, db: db, strings: map[string]int64{}, known: map[string]bool{}}
	e.add("string 1000 -")
	for line := range strings.Lines("export EXPORT_PRODUCT_VERSION 2026.2.1.210\n" +
		"export EXPORT_PARAM_INPUT_FILE run.nsys-rep\n" + lines) {
		if line = strings.TrimSpace(line); line != "" {
			e.add(line)
		}
	}
	must.NoError(t, db.Close())
	return path
}

func (e *export) exec(text string, values ...any) {
	if _, err := e.db.ExecContext(e.t.Context(), text, values...); err != nil {
		e.t.Fatal(text, err)
	}
}

func (e *export) add(line string) {
	kind, rest, _ := strings.Cut(line, " ")
	row := exportRows[kind]
	columns := strings.Fields(row.columns)
	if !e.known[row.table] {
		e.known[row.table] = true
		all := map[string]bool{}
		for _, other := range exportRows {
			for _, c := range strings.Fields(other.columns) {
				if other.table == row.table {
					all[`"`+c+`"`] = true
				}
			}
		}
		var declared []string
		for c := range maps.Keys(all) {
			declared = append(declared, c)
		}
		e.exec(fmt.Sprintf("CREATE TABLE %s (%s)", row.table, strings.Join(declared, ", ")))
	}
	values := make([]any, len(columns))
	for i, text := range strings.SplitN(rest, " ", len(columns)) {
		values[i] = e.value(columns[i], text)
	}
	e.exec(fmt.Sprintf(`INSERT INTO %s ("%s") VALUES (?%s)`, row.table, strings.Join(columns, `", "`),
		strings.Repeat(", ?", len(columns)-1)), values...)
}

// value returns the value of a column: threads are PID/TID, and processes threads with a TID of 0.
func (e *export) value(column, text string) any {
	n, err := strconv.ParseInt(text, 0, 64)
	switch {
	case text == "-":
		return nil
	case column == "demangledName" || column == "textId":
		if e.strings[text] == 0 {
			e.strings[text] = int64(7 * (len(e.strings) + 1))
			e.add(fmt.Sprint("string ", e.strings[text], " ", text))
		}
		return e.strings[text]
	case column == "binaryData":
		return e.payload(strings.Fields(text))
	case strings.HasPrefix(column, "global"):
		var pid, tid int64
		_, _ = fmt.Sscanf(text, "%d/%d", &pid, &tid) // invalid test data
		return 1<<48 | pid<<24 | tid
	case err == nil:
		return n
	}
	return text
}

// payload packs fields behind their header, and adds the schema once per kind of payload. Offsets of 0 are null, as in
// real exports.
func (e *export) payload(fields []string) []byte {
	const domain = 1
	little, layout, data := binary.LittleEndian, fnv.New32(), []byte{}
	var schema []string
	for _, f := range fields {
		name, text, _ := strings.Cut(f, "=")
		value, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			e.t.Fatal(f, err)
		}
		field, offset := payloadFields[name], "-"
		if len(data) > 0 {
			offset = strconv.Itoa(len(data))
		}
		schema = append(schema, fmt.Sprint(field.kind, " ", offset, " ", field.name))
		if _, _ = layout.Write([]byte(name)); field.kind == 18 || field.kind == 22 {
			data = little.AppendUint64(data, value)
		} else {
			data = little.AppendUint32(data, uint32(value))
		}
	}
	id := layout.Sum32()
	for _, entry := range schema {
		if line := fmt.Sprint("schema ", domain, " ", id, " ", entry); !e.known[line] {
			e.known[line] = true
			e.add(line)
		}
	}
	blob := little.AppendUint64(little.AppendUint64(nil, domain), uint64(id))
	blob = little.AppendUint64(little.AppendUint64(blob, uint64(len(data))), uint64(len(data)+32))
	return append(blob, data...)
}
