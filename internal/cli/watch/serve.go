package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/rundir"
	"tercet/internal/summary"
)

// server shows the page of runs to browsers of this machine, and sends them new points of the
// curves.
type server struct {
	patterns []string
	every    time.Duration

	mu   sync.Mutex // one reading of the runs at a time
	last time.Time
	page []byte
	data []byte
}

// listen opens the address of --http, which must be of this machine: the page is for whoever
// can reach it.
func listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, base.Usagef("--http is %q; give a host and a port, such as 127.0.0.1:8080, or 127.0.0.1:0 for any free port", address)
	}
	if !loopback(host) {
		return nil, base.Usagef("--http is %q, which others can reach; give 127.0.0.1:PORT, and forward the port to look from elsewhere", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, base.Usagef("--http: nothing can listen at %s: %w; give another port, or %s for any free one", address, reason(err), net.JoinHostPort(host, "0"))
	}
	return l, nil
}

// reason is the last part of an error of net, without the address and the names of calls.
func reason(err error) error {
	var call *os.SyscallError
	var address *net.AddrError
	switch {
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &address):
		return errors.New(address.Err)
	}
	return err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serve serves until ctx ends.
func (v *server) serve(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", v.show)
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) { v.send(ctx, w, r) })
	s := &http.Server{Handler: local(mux), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { s.Close() })
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// local refuses requests under another name than this machine's, as a page from elsewhere
// makes them whose name was pointed here.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !loopback(host) {
			http.Error(w, "tercet watch answers this machine alone", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// read makes the page of the runs as they are, but not more often than every.
func (v *server) read() (page, data []byte, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.page != nil && time.Since(v.last) < v.every {
		return v.page, v.data, nil
	}
	dirs, err := rundir.Find(v.patterns)
	if err != nil {
		return nil, nil, err
	}
	var runs []*rundir.Run
	var unread error // the first one
	for _, dir := range dirs {
		r, err := report.ReadRun(dir, rundir.Of{})
		if err != nil { // it may just be written, and is read at the next look
			unread = cmp.Or(unread, err)
			continue
		}
		runs = append(runs, r)
	}
	if runs == nil {
		return nil, nil, &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("%w%s", unread, others(len(dirs)))}
	}
	sum, err := summary.Summarize(runs, summary.Options{})
	if err != nil {
		return nil, nil, err
	}
	p := summary.RunPage(sum, runs, false)
	if v.page, v.data, err = p.Live(); err != nil {
		return nil, nil, err
	}
	v.last = time.Now()
	return v.page, v.data, nil
}

func (v *server) show(w http.ResponseWriter, _ *http.Request) {
	page, _, err := v.read()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Write(page) // a browser that has gone away needs nothing
}

// send sends the curves whenever they have changed, as server-sent events.
func (v *server) send(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	flush := http.NewResponseController(w)
	var before []byte
	for {
		_, data, err := v.read()
		if err == nil && string(data) != string(before) {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
				return
			}
			before = data
		}
		if flush.Flush() != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-r.Context().Done():
			return
		case <-time.After(v.every):
		}
	}
}
