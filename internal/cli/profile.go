package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
)

// profiles are the hidden flags for whoever makes the program faster.
type profiles struct {
	cpu, mem, trace string
	stops           []func() error
}

func (p *profiles) addFlags(cmd *cobra.Command) {
	fs := cmd.PersistentFlags()
	fs.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to `FILE`")
	fs.StringVar(&p.mem, "memprofile", "", "write a heap profile to `FILE` at the end")
	fs.StringVar(&p.trace, "trace", "", "write an execution trace to `FILE`")
	for _, name := range []string{"cpuprofile", "memprofile", "trace"} {
		fs.MarkHidden(name)
	}
}

// start begins what the flags ask for; stop ends it.
func (p *profiles) start() error {
	if err := p.begin(); err != nil {
		return &base.ExitError{Code: base.ExitFailed, Err: err}
	}
	return nil
}

func (p *profiles) begin() error {
	for _, one := range []struct {
		flag, path string
		start      func(io.Writer) error
		stop       func()
	}{
		{"cpuprofile", p.cpu, pprof.StartCPUProfile, pprof.StopCPUProfile},
		{"trace", p.trace, trace.Start, trace.Stop},
	} {
		if one.path == "" {
			continue
		}
		f, err := os.Create(one.path)
		if err == nil {
			err = one.start(f)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", one.flag, err)
		}
		p.stops = append(p.stops, func() error { one.stop(); return f.Close() })
	}
	if p.mem != "" {
		p.stops = append(p.stops, func() error {
			f, err := os.Create(p.mem)
			if err != nil {
				return fmt.Errorf("--memprofile: %w", err)
			}
			runtime.GC() // the profile counts what is still in use
			return errors.Join(pprof.WriteHeapProfile(f), f.Close())
		})
	}
	return nil
}

// stop writes what start began.
func (p *profiles) stop() error {
	var all error
	for _, f := range p.stops {
		all = errors.Join(all, f())
	}
	p.stops = nil
	return all
}
