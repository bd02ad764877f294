package aws

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"busbar/internal/needs"
)

// A metadata is an instance metadata service of EC2, version 2, on loopback. It requires a valid token.
type metadata struct {
	url string

	mu        sync.Mutex
	tokens    int // issued
	valid     string
	notice    string // of spot/instance-action
	rebalance string
	requests  map[string]int // by path
}

func serve(t *testing.T) *metadata {
	t.Helper()
	needs.Command(t, "curl", "spot-watch.sh requires it")
	m := &metadata{requests: map[string]int{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[r.URL.Path]++
	if r.URL.Path == "/latest/api/token" {
		if r.Method != http.MethodPut || r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") == "" {
			http.Error(w, "", http.StatusBadRequest)
			return
		}
		m.tokens++
		m.valid = fmt.Sprintf("token-%d==", m.tokens)
		fmt.Fprint(w, m.valid)
		return
	}
	if m.valid == "" || r.Header.Get("X-aws-ec2-metadata-token") != m.valid {
		http.Error(w, "", http.StatusUnauthorized)
		return
	}
	body := map[string]string{
		"/latest/meta-data/instance-id":                      "i-0123456789abcdef0",
		"/latest/meta-data/spot/instance-action":             m.notice,
		"/latest/meta-data/events/recommendations/rebalance": m.rebalance,
	}[r.URL.Path]
	if body == "" {
		http.Error(w, "", http.StatusNotFound)
		return
	}
	fmt.Fprint(w, body)
}

// set changes what the service returns from now on.
func (m *metadata) set(change func(*metadata)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(m)
}

func (m *metadata) count(path string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests[path]
}
