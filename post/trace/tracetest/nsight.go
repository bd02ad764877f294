package tracetest

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
)

// Export is a SQLite export of Nsight Systems while it is put together.
type Export struct{ tables }

// tables are the tables of an export. A table is created with its first row, as Nsight Systems does.
type tables struct {
	style Style
	rows  map[string][][]driver.Value
	names map[string]int64
}

// Style is by which of the many ways an export is written.
type Style struct {
	Old      bool    // columns as of 2020: no graphs, texts of NVTX in the row or as registeredString
	Payloads Payload // of NCCL's ranges
	Shuffled bool    // rows lie in no order
	NoEnums  bool    // without the tables of names of numbers
	NoIndex  bool    // the table of strings has no key
	Page     int     // bytes of a page of the file; 0: as SQLite makes them
}

// Payload is what an export has of NCCL's payloads.
type Payload int

// The ways.
const (
	NoPayloads Payload = iota // as exported without asking for them
	Blobs
	JSON
)

// NewExport begins an export with the tables that every one has.
func NewExport(s Style) *Export {
	e := &Export{tables{style: s, rows: map[string][][]driver.Value{}, names: map[string]int64{}}}
	e.Meta("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems")
	e.Meta("EXPORT_PRODUCT_VERSION", "2026.2.1.210")
	e.Meta("EXPORT_PARAM_INPUT_FILE", "run.nsys-rep")
	e.String("")
	if !s.NoEnums {
		for id, name := range []string{1: "HTOD", 2: "DTOH", 8: "DTOD", 10: "PTOP", 11: "UVM_HTOD"} {
			if name != "" {
				e.add("ENUM_CUDA_MEMCPY_OPER", id, "CUDA_MEMCPY_KIND_"+name, "label of "+name)
			}
		}
		for id, name := range []string{34: "NvtxMark", 59: "NvtxPushPopRange", 60: "NvtxStartEndRange",
			75: "NvtxDomainCreate"} {
			if name != "" {
				e.add("ENUM_NSYS_EVENT_TYPE", id, name, name)
			}
		}
	}
	return e
}

// Columns of each table. Those after a bar are left out by old exports.
var exportTables = map[string]string{
	"CUPTI_ACTIVITY_KIND_KERNEL": "start, end, deviceId, contextId, streamId, correlationId, globalPid, " +
		"demangledName, shortName | mangledName, graphNodeId, greenContextId",
	"CUPTI_ACTIVITY_KIND_MEMCPY": "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, " +
		"copyKind | srcDeviceId, dstDeviceId, graphNodeId",
	"CUPTI_ACTIVITY_KIND_MEMSET": "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes | " +
		"graphNodeId",
	"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start, end, deviceId, contextId, streamId, correlationId, globalPid, graphId, " +
		"graphExecId",
	"CUPTI_ACTIVITY_KIND_RUNTIME":    "start, end, eventClass, globalTid, correlationId, nameId",
	"CUDA_GRAPH_NODE_EVENTS":         "start, globalTid, graphNodeId, originalGraphNodeId",
	"NVTX_EVENTS":                    "start, end, eventType, globalTid, domainId, text | textId, jsonText, binaryData",
	"NVTX_PAYLOAD_SCHEMA_ENTRIES":    "domainId, schemaId, idx, type, name, offset",
	"StringIds":                      "id, value",
	"META_DATA_EXPORT":               "name, value",
	"META_DATA_CAPTURE":              "name, value",
	"TARGET_INFO_SYSTEM_ENV":         "name, value",
	"TARGET_INFO_SESSION_START_TIME": "utcEpochNs, systemClockNs",
	"TARGET_INFO_GPU":                "id, name",
	"TARGET_INFO_CUDA_DEVICE":        "gpuId, cudaId, pid",
	"ANALYSIS_DETAILS":               "startTime, stopTime",
	"DIAGNOSTIC_EVENT":               "severity, text",
	"MPI_RANKS":                      "globalTid, rank",
	"ENUM_CUDA_MEMCPY_OPER":          "id, name, label",
	"ENUM_NSYS_EVENT_TYPE":           "id, name, label",
}

// columns are those of a table in this style.
func (t *tables) columns(table string) []string {
	list := exportTables[table]
	if t.style.Old && table == "NVTX_EVENTS" {
		list = strings.Replace(list, "text |", "text, registeredString |", 1)
	}
	if t.style.Old {
		list, _, _ = strings.Cut(list, " |")
	}
	return strings.Split(strings.ReplaceAll(list, " |", ","), ", ")
}

func (t *tables) add(table string, values ...driver.Value) {
	for i, v := range values {
		if n, ok := v.(int); ok {
			values[i] = int64(n)
		}
	}
	t.rows[table] = append(t.rows[table], values)
}

// row adds a row with the columns of exportTables; those an old export lacks are left out.
func (t *tables) row(table string, values ...driver.Value) {
	t.add(table, values[:min(len(values), len(t.columns(table)))]...)
}

// String is the number of a string.
func (t *tables) String(s string) int64 {
	id, known := t.names[s]
	if !known {
		id = int64(len(t.names)) * 7
		t.names[s] = id
		t.add("StringIds", id, s)
	}
	return id
}

// Meta adds what the export says of itself.
func (e *Export) Meta(name, value string) { e.add("META_DATA_EXPORT", name, value) }

// Environment adds a variable of the program that was launched.
func (e *Export) Environment(name, value string) {
	e.add("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", name+`="`+value+`"`)
}

// Session says when and where the recording was.
func (e *Export) Session(host string, utc, clock, stop int64) {
	e.add("TARGET_INFO_SYSTEM_ENV", "Hostname", host)
	e.add("TARGET_INFO_SESSION_START_TIME", utc, clock)
	e.add("ANALYSIS_DETAILS", clock, stop)
}

// GPU says which GPU a process calls by which number.
func (e *Export) GPU(pid, cuda, gpu int, name string) {
	e.add("TARGET_INFO_GPU", gpu, name)
	e.add("TARGET_INFO_CUDA_DEVICE", gpu, cuda, pid)
}

// Diagnostic adds a message of Nsight Systems.
func (e *Export) Diagnostic(severity int, text string) { e.add("DIAGNOSTIC_EVENT", severity, text) }

// MPIRank adds the rank of a process.
func (e *Export) MPIRank(pid, rank int) { e.add("MPI_RANKS", thread(pid, pid), rank) }

// thread is what an export calls a thread; process what it calls its process.
func thread(pid, tid int) int64 { return 1<<48 | int64(pid)<<24 | int64(tid) }
func process(pid int) int64     { return thread(pid, 0) }

// On is where something runs.
type On struct{ PID, Device, Stream int }

// context is the number of a context, which each process counts for itself.
func (o On) context() int { return o.Device + 1 }

// Ran adds a kernel that a call launched; node is that of a graph, 0 for none.
func (e *Export) Ran(on On, start, took int64, call int, name string, node int64) {
	short, _, _ := strings.Cut(name, "<")
	e.row("CUPTI_ACTIVITY_KIND_KERNEL", start, start+took, on.Device, on.context(), on.Stream, call, process(on.PID),
		e.String(name), e.String(short), nil, orNull(node), nil)
}

// Copied adds a copy.
func (e *Export) Copied(on On, start, took int64, call int, bytes int64, kind int) {
	e.row("CUPTI_ACTIVITY_KIND_MEMCPY", start, start+took, on.Device, on.context(), on.Stream, call, process(on.PID),
		bytes, kind, nil, nil, nil)
}

// WasSet adds a memset.
func (e *Export) WasSet(on On, start, took int64, call int, bytes int64) {
	e.row("CUPTI_ACTIVITY_KIND_MEMSET", start, start+took, on.Device, on.context(), on.Stream, call, process(on.PID),
		bytes, nil)
}

// WholeGraph adds a CUDA graph that was recorded as a whole.
func (e *Export) WholeGraph(on On, start, took int64, call, graph int) {
	e.row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start, start+took, on.Device, on.context(), on.Stream, call, process(on.PID),
		graph, graph)
}

// Node says when a node of a graph was made, as the copy of another or of none.
func (e *Export) Node(pid, tid int, at, node, original int64) {
	e.row("CUDA_GRAPH_NODE_EVENTS", at, thread(pid, tid), node, orNull(original))
}

// Called adds a call of CUDA.
func (e *Export) Called(pid, tid int, start, took int64, call int, name string) {
	e.row("CUPTI_ACTIVITY_KIND_RUNTIME", start, start+took, 0, thread(pid, tid), call, e.String(name))
}

// Annotated adds a range of NVTX; one that took less than 0 has no end.
func (e *Export) Annotated(pid, tid int, start, took int64, name string) {
	e.annotated(pid, tid, start, took, 0, name, nil, nil)
}

// Domain names a domain.
func (e *Export) Domain(pid, id int, name string) {
	e.row("NVTX_EVENTS", inOld(e, []driver.Value{0, nil, 75, thread(pid, pid), id, name}, nil)...)
}

// inOld adds the column registeredString that an old export has.
func inOld(e *Export, values []driver.Value, registered driver.Value) []driver.Value {
	if e.style.Old {
		values = append(values, registered)
	}
	return values
}

func (e *Export) annotated(pid, tid int, start, took int64, domain int, name string, json, blob driver.Value) {
	end := driver.Value(start + took)
	if took < 0 {
		end = nil
	}
	values := []driver.Value{start, end, 59, thread(pid, tid), domain}
	switch {
	case e.style.Old && domain == 0:
		values = append(values, name, nil)
	case e.style.Old:
		values = append(values, nil, e.String(name))
	case domain == 0:
		values = append(values, name, nil, json, blob)
	default:
		values = append(values, nil, e.String(name), json, blob)
	}
	e.row("NVTX_EVENTS", values...)
}

// Field is one number of a payload of NCCL.
type Field struct {
	Name  string
	Type  int64 // 5: int, 18: uint64, 22: size_t
	Value uint64
}

// NCCLDomain is the number of NCCL's domain.
const NCCLDomain = 1

// Fields of NCCL's payloads, by the names that it gives them.
func comm(id uint64) Field { return Field{"NCCL communicator ID", 18, id} }

// Sized is the payload of an operation.
func Sized(id uint64, bytes int64) []Field {
	return []Field{comm(id), {"Message size [bytes]", 22, uint64(bytes)}}
}

// Reduced is that of one that reduces: the third field is of a type that NCCL defines.
func Reduced(id uint64, bytes int64) []Field {
	return append(Sized(id, bytes), Field{"Reduction operation", 16777232, 0})
}

// WithPeer is that of a send or a receive.
func WithPeer(id uint64, bytes int64, peer int) []Field {
	return append(Sized(id, bytes), Field{"Peer rank", 5, uint64(peer)})
}

// Joined is that of the call that makes a communicator.
func Joined(id uint64, ranks, rank, device int) []Field {
	return []Field{comm(id), {"No. of ranks", 5, uint64(ranks)}, {"Rank", 5, uint64(rank)},
		{"CUDA device", 5, uint64(device)}}
}

// NCCL adds a range of a function of NCCL.
func (e *Export) NCCL(pid, tid int, start, took int64, name string, fields []Field) {
	var json, blob driver.Value
	switch {
	case e.style.Payloads == JSON && fields != nil:
		var text []string
		for _, f := range fields {
			text = append(text, fmt.Sprintf("%q:%d", f.Name, f.Value))
		}
		json = "{" + strings.Join(text, ",") + "}"
	case e.style.Payloads == Blobs && fields != nil:
		blob = e.blob(name, fields)
	}
	e.annotated(pid, tid, start, took, NCCLDomain, name, json, blob)
}

// blob packs a payload behind its header, and says its layout once. Offsets of 0 are null, as in real exports.
func (e *Export) blob(name string, fields []Field) []byte {
	schema := int64(0x1000000)
	for _, c := range name {
		schema = schema*31%0xffff + 0x1000000 + int64(c)
	}
	var data []byte
	for i, f := range fields {
		width := 8
		if f.Type != 18 && f.Type != 22 {
			width = 4
		}
		if !slices.ContainsFunc(e.rows["NVTX_PAYLOAD_SCHEMA_ENTRIES"], func(r []driver.Value) bool {
			return r[1] == schema && r[2] == int64(i)
		}) {
			e.row("NVTX_PAYLOAD_SCHEMA_ENTRIES", NCCLDomain, schema, i, f.Type, f.Name, orNull(int64(len(data))))
		}
		if width == 8 {
			data = binary.LittleEndian.AppendUint64(data, f.Value)
		} else {
			data = binary.LittleEndian.AppendUint32(data, uint32(f.Value))
		}
	}
	blob := binary.LittleEndian.AppendUint32(nil, NCCLDomain)
	blob = binary.LittleEndian.AppendUint32(blob, 0)
	blob = binary.LittleEndian.AppendUint32(blob, uint32(schema))
	blob = binary.LittleEndian.AppendUint32(blob, 0)
	blob = binary.LittleEndian.AppendUint64(blob, uint64(len(data)))
	blob = binary.LittleEndian.AppendUint64(blob, uint64(len(data)+32))
	return append(blob, data...)
}

func orNull(n int64) driver.Value {
	if n == 0 {
		return nil
	}
	return n
}

// Write writes the export.
func (t *tables) Write(ctx context.Context, path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	name := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(abs))
	conn, err := (&sqlite.Driver{}).Open("file:" + name)
	if err != nil {
		return err
	}
	err = t.fill(ctx, conn)
	if closed := conn.Close(); err == nil {
		err = closed
	}
	return err
}

func (t *tables) fill(ctx context.Context, conn driver.Conn) error {
	run := func(text string) error {
		_, err := conn.(driver.ExecerContext).ExecContext(ctx, text, nil)
		return err
	}
	if t.style.Page > 0 {
		if err := run(fmt.Sprintf("PRAGMA page_size = %d", t.style.Page)); err != nil {
			return err
		}
	}
	if err := run("BEGIN"); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, table := range slices.Sorted(maps.Keys(t.rows)) {
		rows := t.rows[table]
		if t.style.Shuffled {
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		if err := t.fillTable(ctx, conn, table, rows); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
	}
	return run("COMMIT")
}

func (t *tables) fillTable(ctx context.Context, conn driver.Conn, table string, rows [][]driver.Value) error {
	columns := t.columns(table)
	declared := `"` + strings.Join(columns, `", "`) + `"`
	if table == "StringIds" && !t.style.NoIndex {
		declared = `"id" INTEGER NOT NULL PRIMARY KEY, "value" TEXT NOT NULL`
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", table, declared),
		nil); err != nil {
		return err
	}
	insert, err := conn.Prepare(fmt.Sprintf("INSERT INTO %s VALUES (?%s)", table, strings.Repeat(", ?", len(columns)-1)))
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, row := range rows {
		values := make([]driver.NamedValue, len(columns))
		for i := range values {
			values[i].Ordinal = i + 1
			if i < len(row) {
				values[i].Value = row[i]
			}
		}
		if _, err := insert.(driver.StmtExecContext).ExecContext(ctx, values); err != nil {
			return err
		}
	}
	return nil
}
