package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/rundir/rundirtest"
)

const twoSteps = `{"event":"start","step":0}
{"event":"step","step":1,"loss":0.5}
{"event":"step","step":2,"loss":0.25}
`

// A browser gets the page, and then new points of its curves.
func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	rundirtest.Put(t, dir, "config.yaml", "name: x\nseed: 1\n")
	rundirtest.Put(t, dir, "events.jsonl", twoSteps)
	m := strings.Replace(rundirtest.Manifest(1, "running", 0), `"config_hash": "0123456789ab",`, `"config_hash": "",`, 1)
	rundirtest.Put(t, dir, "manifest.json", m)
	v := &server{patterns: []string{dir}, every: time.Millisecond}
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- v.serve(ctx, l) }()
	get := func(path, host string) *http.Response {
		t.Helper()
		r, err := http.NewRequest("GET", "http://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		out, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	page := get("/", "")
	text, err := io.ReadAll(page.Body)
	if err != nil || page.StatusCode != 200 || !strings.Contains(string(text), " connect-src &#39;self&#39;;") || !strings.Contains(string(text), `"live":true`) {
		t.Errorf("%d %v %.300s", page.StatusCode, err, text)
	}
	if r := get("/", "evil.example:80"); r.StatusCode != http.StatusForbidden {
		t.Errorf("another name: %d", r.StatusCode)
	}
	if r := get("/etc/passwd", ""); r.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %d", r.StatusCode)
	}
	events := get("/events", "")
	defer events.Body.Close()
	in := bufio.NewReader(events.Body)
	points := func() int {
		t.Helper()
		line, err := in.ReadString('\n')
		data, ok := strings.CutPrefix(line, "data: ")
		var d struct {
			Charts []struct{ Lines []struct{ Y []float64 } }
		}
		if err != nil || !ok || json.Unmarshal([]byte(data), &d) != nil || len(d.Charts) != 1 {
			t.Fatalf("%v %q", err, line)
		}
		in.ReadString('\n')
		return len(d.Charts[0].Lines[0].Y)
	}
	if n := points(); n != 2 {
		t.Errorf("%d points", n)
	}
	rundirtest.Put(t, dir, "events.jsonl", twoSteps+`{"event":"step","step":3,"loss":0.125}`+"\n")
	if n := points(); n != 3 {
		t.Errorf("%d points after a step", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "8080", "example.com:80", "127.0.0.1:99999", taken.Addr().String()} {
		if _, err := listen(address); base.ExitCode(err) != base.ExitUsage {
			t.Errorf("%s: %v", address, err)
		}
	}
}
