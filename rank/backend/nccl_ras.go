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
	rasAddress = "localhost:28028" // where NCCL's RAS listens since 2.24, unless NCCL_RAS_ADDR says otherwise
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

// askRAS is what NCCL's own service for reliability (RAS) says of the communicators on this host; "" where there is
// none. It answers also while communicators hang.
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
	text, _ := io.ReadAll(io.LimitReader(conn, 1<<16)) // what came before the time was over is worth having
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[:min(len(lines), rasLines)], "\n")
}
