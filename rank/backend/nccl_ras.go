package backend

import (
	"cmp"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"busbar/rank/timeout"
)

const (
	rasAddress = "localhost:28028" // where NCCL's RAS listens since 2.24; NCCL_RAS_ADDR overrides it
	rasLines   = 40
)

// Diagnose implements Diagnoser.
func (l *ncclLibrary) Diagnose() string {
	if l.Simulated() {
		return ""
	}
	if ras := askRAS(); ras != "" {
		return "\nNCCL's RAS reports:\n" + ras
	}
	return ""
}

// askRAS returns what NCCL's reliability service (RAS) reports of the communicators on this host; "" without
// the service. It also answers while communicators hang.
func askRAS() string {
	conn, err := net.DialTimeout("tcp", cmp.Or(os.Getenv("NCCL_RAS_ADDR"), rasAddress), timeout.RAS)
	if err != nil {
		return ""
	}
	defer conn.Close() //nolint:errcheck // it was only read
	if err := conn.SetDeadline(time.Now().Add(timeout.RAS)); err != nil {
		return ""
	}
	if _, err := io.WriteString(conn, "verbose status\n"); err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(conn, 1<<16)) // keep what arrived before the timeout
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[:min(len(lines), rasLines)], "\n")
}
