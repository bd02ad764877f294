package tracetest

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// Export is a SQLite export of Nsight Systems while it is put together. A table is created with its first row, as
// Nsight Systems does.
type Export struct {
	Shuffled        bool // rows lie in no order
	WithoutPayloads bool // what NCCL's ranges carry is left out

	rows  map[string][][]any
	names map[string]int64
}

// NewExport begins an export with the tables that every one has.
func NewExport() *Export {
	e := &Export{rows: map[string][][]any{}, names: map[string]int64{}}
	e.add("META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION", "2026.2.1.210")
	e.add("META_DATA_EXPORT", "EXPORT_PARAM_INPUT_FILE", "run.nsys-rep")
	e.string("")
	return e
}

// columns of each table.
var columns = map[string]string{
	"CUPTI_ACTIVITY_KIND_KERNEL": "start, end, deviceId, streamId, correlationId, globalPid, demangledName, " +
		"shortName, graphNodeId",
	"CUPTI_ACTIVITY_KIND_MEMCPY":      "start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind",
	"CUPTI_ACTIVITY_KIND_MEMSET":      "start, end, deviceId, streamId, correlationId, globalPid, bytes",
	"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "start, end, deviceId, streamId, correlationId, globalPid, graphExecId",
	"CUPTI_ACTIVITY_KIND_RUNTIME":     "start, end, globalTid, correlationId",
	"CUDA_GRAPH_NODE_EVENTS":          "start, globalTid, graphNodeId, originalGraphNodeId",
	"NVTX_EVENTS":                     "start, end, eventType, globalTid, text, textId, binaryData",
	"NVTX_PAYLOAD_SCHEMA_ENTRIES":     "domainId, schemaId, type, name, offset",
	"StringIds":                       "id INTEGER NOT NULL PRIMARY KEY, value",
	"META_DATA_EXPORT":                "name, value",
	"META_DATA_CAPTURE":               "name, value",
	"TARGET_INFO_SYSTEM_ENV":          "name, value",
	"TARGET_INFO_SESSION_START_TIME":  "utcEpochNs",
	"TARGET_INFO_GPU":                 "id, name",
	"TARGET_INFO_CUDA_DEVICE":         "gpuId, cudaId, pid",
	"ANALYSIS_DETAILS":                "startTime, stopTime",
	"DIAGNOSTIC_EVENT":                "severity, text",
	"MPI_RANKS":                       "globalTid, rank",
}

// add adds a row. Numbers of 0 in the columns of graphs are null, as in real exports: see orNull.
func (e *Export) add(table string, values ...any) { e.rows[table] = append(e.rows[table], values) }

func orNull(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// string is the number of a string.
func (e *Export) string(s string) int64 {
	id, known := e.names[s]
	if !known {
		id = int64(len(e.names)) * 7
		e.names[s] = id
		e.add("StringIds", id, s)
	}
	return id
}

// Environment adds a variable of the program that was launched.
func (e *Export) Environment(name, value string) {
	e.add("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", name+`="`+value+`"`)
}

// Session sets when and where the recording was.
func (e *Export) Session(host string, utc, clock, stop int64) {
	e.add("TARGET_INFO_SYSTEM_ENV", "Hostname", host)
	e.add("TARGET_INFO_SESSION_START_TIME", utc)
	e.add("ANALYSIS_DETAILS", clock, stop)
}

// GPU sets which GPU a process calls by which number.
func (e *Export) GPU(pid, cuda, gpu int, name string) {
	e.add("TARGET_INFO_GPU", gpu, name)
	e.add("TARGET_INFO_CUDA_DEVICE", gpu, cuda, pid)
}

// Diagnostic adds a message of Nsight Systems.
func (e *Export) Diagnostic(severity int, text string) { e.add("DIAGNOSTIC_EVENT", severity, text) }

// MPIRank adds the rank of a process.
func (e *Export) MPIRank(pid, rank int) { e.add("MPI_RANKS", thread(pid, pid), rank) }

// thread is the number that an export gives a thread, and with a tid of 0 its process.
func thread(pid, tid int) int64 { return 1<<48 | int64(pid)<<24 | int64(tid) }

// On is where something runs.
type On struct{ PID, Device, Stream int }

// activity adds what a call launched, with the columns that its table has of its own.
func (e *Export) activity(table string, on On, start, took int64, call int, own ...any) {
	e.add("CUPTI_ACTIVITY_KIND_"+table, slices.Concat([]any{start, start + took, on.Device, on.Stream, call,
		thread(on.PID, 0)}, own)...)
}

// Ran adds a kernel; node is that of a graph, 0 for none.
func (e *Export) Ran(on On, start, took int64, call int, name string, node int64) {
	short, _, _ := strings.Cut(name, "<")
	e.activity("KERNEL", on, start, took, call, e.string(name), e.string(short), orNull(node))
}

// Copied adds a copy.
func (e *Export) Copied(on On, start, took int64, call int, bytes int64, kind int) {
	e.activity("MEMCPY", on, start, took, call, bytes, kind)
}

// WasSet adds a memset.
func (e *Export) WasSet(on On, start, took int64, call int, bytes int64) {
	e.activity("MEMSET", on, start, took, call, bytes)
}

// WholeGraph adds a CUDA graph that was recorded as a whole.
func (e *Export) WholeGraph(on On, start, took int64, call, graph int) {
	e.activity("GRAPH_TRACE", on, start, took, call, graph)
}

// Node adds the making of a graph's node; original is that which it is a copy of, 0 for none.
func (e *Export) Node(pid, tid int, at, node, original int64) {
	e.add("CUDA_GRAPH_NODE_EVENTS", at, thread(pid, tid), node, orNull(original))
}

// Called adds a call of CUDA.
func (e *Export) Called(pid, tid int, start, took int64, call int) {
	e.add("CUPTI_ACTIVITY_KIND_RUNTIME", start, start+took, thread(pid, tid), call)
}

// Annotated adds a range of NVTX; one that took less than 0 has no end.
func (e *Export) Annotated(pid, tid int, start, took int64, name string) {
	end := any(start + took)
	if took < 0 {
		end = nil
	}
	e.add("NVTX_EVENTS", start, end, 59, thread(pid, tid), name)
}

// Field is one number of a payload of NCCL.
type Field struct {
	Name  string
	Type  int // 5: int, 18: uint64, 22: size_t
	Value uint64
}

// Sized is the payload of an operation.
func Sized(comm uint64, bytes int64) []Field {
	return []Field{{"NCCL communicator ID", 18, comm}, {"Message size [bytes]", 22, uint64(bytes)}}
}

// Reduced is that of one that reduces: the third field is of a type that NCCL defines.
func Reduced(comm uint64, bytes int64) []Field {
	return append(Sized(comm, bytes), Field{"Reduction operation", 16777232, 0})
}

// WithPeer is that of a send or a receive.
func WithPeer(comm uint64, bytes int64, peer int) []Field {
	return append(Sized(comm, bytes), Field{"Peer rank", 5, uint64(peer)})
}

// Joined is that of the call that makes a communicator.
func Joined(comm uint64, ranks, rank, device int) []Field {
	return []Field{{"NCCL communicator ID", 18, comm}, {"No. of ranks", 5, uint64(ranks)}, {"Rank", 5, uint64(rank)},
		{"CUDA device", 5, uint64(device)}}
}

// NCCL adds a range of a function of NCCL.
func (e *Export) NCCL(pid, tid int, start, took int64, name string, fields []Field) {
	var blob any
	if fields != nil && !e.WithoutPayloads {
		blob = e.blob(fields)
	}
	e.add("NVTX_EVENTS", start, start+took, 59, thread(pid, tid), nil, e.string(name), blob)
}

// blob packs a payload behind its header, and adds its layout once for each kind of payload. Offsets of 0 are null, as
// in real exports.
func (e *Export) blob(fields []Field) []byte {
	const domain = 1
	little := binary.LittleEndian
	schema := uint32(0x1000000 + len(fields))
	for _, f := range fields {
		schema = schema*31 + uint32(f.Type)
	}
	var data []byte
	for _, f := range fields {
		e.add("NVTX_PAYLOAD_SCHEMA_ENTRIES", domain, int64(schema), f.Type, f.Name, orNull(int64(len(data))))
		if f.Type == 18 || f.Type == 22 {
			data = little.AppendUint64(data, f.Value)
		} else {
			data = little.AppendUint32(data, uint32(f.Value))
		}
	}
	blob := little.AppendUint64(little.AppendUint64(nil, domain), uint64(schema))
	blob = little.AppendUint64(little.AppendUint64(blob, uint64(len(data))), uint64(len(data)+32))
	return append(blob, data...)
}

// Write writes the export to a new file.
func (e *Export) Write(ctx context.Context, path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return err
	}
	return errors.Join(e.fill(ctx, db), db.Close())
}

func (e *Export) fill(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, table := range slices.Sorted(maps.Keys(e.rows)) {
		declared := strings.ReplaceAll(columns[table], "end,", `"end",`)
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", table, declared)); err != nil {
			return err
		}
		rows := e.rows[table]
		if e.Shuffled {
			random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		more := strings.Count(declared, ",")
		insert := fmt.Sprintf("INSERT INTO %s VALUES (?%s)", table, strings.Repeat(", ?", more))
		for _, row := range rows {
			row = append(row, make([]any, more+1-len(row))...)
			if _, err := tx.ExecContext(ctx, insert, row...); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
