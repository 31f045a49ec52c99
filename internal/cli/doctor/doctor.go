package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/config"
	"tercet/internal/device"
	"tercet/internal/engine/kernel"
	"tercet/internal/lists"
	"tercet/internal/par"
	"tercet/internal/ranks/mpi"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/rng"
	"tercet/internal/run"
	"tercet/internal/text"
)

type options struct {
	base.ConfigFlags
	modules bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "doctor [FILE.yaml]",
		Short: "Check this machine and, if given, a config",
		Long: `Checks whether a run can work, and shows CPU features, the kernel level and its measured
speed, threads, memory and disk space. With a config it also measures how long a run takes
to stop after SIGTERM. Please include the output in bug reports.
--modules adds the versions of libraries, which --json always includes.`,
		AnyKernel: true,
		Args:      o.OneConfig,
		Examples: []base.Example{
			{Why: "this machine", Line: "tercet doctor"},
			{Why: "also check a config", Line: "tercet doctor configs/demo.yaml --json"},
		},
		Flags: func(cmd *cobra.Command) {
			o.AddFlags(cmd)
			cmd.Flags().BoolVar(&o.modules, "modules", false, "also list the versions of libraries")
		},
		Run: func(ctx context.Context, _ []string) error { return runDoctor(ctx, s, o) },
	}.Build()
}

const (
	lowMemory = 1 << 30 // bytes; an evaluation of 60,000 images needs about this
	lowDisk   = 1 << 30
)

func runDoctor(ctx context.Context, s *base.Streams, o options) error {
	doc := printed.Doctor{
		Schema:  record.DoctorSchema,
		Build:   base.BuildInfo(),
		CPU:     printed.CPU{Brand: run.CPUName(), Features: base.CPUFeatures(), Count: runtime.NumCPU(), Threads: par.Threads()},
		Kernel:  kernels(),
		Memory:  Memory(),
		Modules: modules(),
	}
	doc.Checks = append(doc.Checks, checkKernel(), checkMPI(), checkDevices())
	if m := doc.Memory; m != nil {
		doc.Checks = append(doc.Checks, checkSpace("memory", "available", m.Available, lowMemory))
	}
	if c, ok := checkPages(); ok {
		doc.Checks = append(doc.Checks, c)
	}
	for _, path := range []string{".", os.TempDir()} {
		d, c := checkDisk(path)
		doc.Disk, doc.Checks = append(doc.Disk, d), append(doc.Checks, c)
	}
	if o.Path != "" || len(o.Sets) > 0 {
		f, c := checkConfig(s, o)
		doc.Config, doc.Checks = &f, append(doc.Checks, c)
		if f.OK {
			doc.Checks = append(doc.Checks, checkSignal(ctx, o))
		}
	}
	if err := s.Result(doc, func(w io.Writer) error { return PrintDoctor(w, doc, o.modules) }); err != nil {
		return err
	}
	return verdict(doc.Checks)
}

// verdict is an error if a check failed: of usage, since each has a flag, a file
// or a variable as its cause, else of the machine.
func verdict(checks []printed.DoctorCheck) error {
	var bad []string
	code := base.ExitFailed
	for _, c := range checks {
		if c.Level == "fail" {
			bad = append(bad, c.Name)
			if c.Name == "config" || c.Name == "kernel" {
				code = base.ExitUsage
			}
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &base.ExitError{Code: code, Err: fmt.Errorf("checks failed: %s", strings.Join(bad, ", "))}
}

func checkKernel() printed.DoctorCheck {
	if err := kernel.StartError(); err != nil {
		return printed.DoctorCheck{Name: "kernel", Level: "fail", Text: err.Error()}
	}
	levels := kernel.Levels()
	best, now := levels[len(levels)-1], kernel.Current()
	if now != best && os.Getenv(kernel.EnvLevel) != "" {
		return printed.DoctorCheck{Name: "kernel", Level: "warn", Text: fmt.Sprintf("level %v is forced, %v would be faster", now, best)}
	}
	if best == kernel.Generic {
		return printed.DoctorCheck{Name: "kernel", Level: "warn", Text: "no assembly for this processor or build: plain Go is many times slower"}
	}
	if kernel.Measures() {
		return printed.DoctorCheck{Name: "kernel", Level: "warn", Text: kernel.EnvWinograd + "=measure: another run may plan its convolutions in another way and give other last bits"}
	}
	text := "level " + kernel.Setting()
	if now != best {
		text += fmt.Sprintf("; %s=%v has faster matrix products, with other last bits", kernel.EnvLevel, best)
	}
	return printed.DoctorCheck{Name: "kernel", Level: "ok", Text: text}
}

// checkDevices says what networks can compute on.
func checkDevices() printed.DoctorCheck {
	found, errs := device.List()
	if errors.Is(errors.Join(errs...), device.ErrStatic) {
		return printed.DoctorCheck{Name: "devices", Level: "ok", Text: "not in this static build; tercet-native has them (make native)"}
	}
	list := lists.Map(found, func(i device.Info) string { return i.Setting() })
	if len(list) == 0 {
		list = append(list, "no OpenCL device and no GPU of NVIDIA: networks compute on the processor (tercet device list says why)")
	}
	return printed.DoctorCheck{Name: "devices", Level: "ok", Text: strings.Join(list, "; ")}
}

// checkMPI says whether several processes can train a run.
func checkMPI() printed.DoctorCheck {
	name, err := mpi.Look()
	switch {
	case errors.Is(err, mpi.ErrStatic):
		return printed.DoctorCheck{Name: "mpi", Level: "ok", Text: "not in this static build; tercet-native has it (make native)"}
	case err != nil:
		return printed.DoctorCheck{Name: "mpi", Level: "warn", Text: err.Error()}
	}
	return printed.DoctorCheck{Name: "mpi", Level: "ok", Text: name}
}

func checkSpace(name, what string, have, low uint64) printed.DoctorCheck {
	text := fmt.Sprintf("%s %s", bytesText(have), what)
	if have < low {
		return printed.DoctorCheck{Name: name, Level: "warn", Text: text + ", less than " + bytesText(low)}
	}
	return printed.DoctorCheck{Name: name, Level: "ok", Text: text}
}

func checkDisk(path string) (printed.Disk, printed.DoctorCheck) {
	free, err := diskFree(path)
	name := "disk " + path
	if err != nil {
		return printed.Disk{Path: path, Error: err.Error()}, printed.DoctorCheck{Name: name, Level: "warn", Text: err.Error()}
	}
	d := printed.Disk{Path: path, Free: free}
	f, err := os.CreateTemp(path, ".tercet-doctor-*")
	if err != nil {
		return d, printed.DoctorCheck{Name: name, Level: "fail", Text: "cannot be written: " + err.Error()}
	}
	f.Close()
	os.Remove(f.Name())
	return d, checkSpace(name, "free", free, lowDisk)
}

func checkConfig(s *base.Streams, o options) (printed.CheckedFile, printed.DoctorCheck) {
	f := printed.CheckedFile{File: o.Path}
	c, runs, err := config.Checked(s, o.ConfigFlags)
	if err != nil {
		f.Error = err.Error()
		return f, printed.DoctorCheck{Name: "config", Level: "fail", Text: err.Error()}
	}
	f.OK, f.Runs, f.Hash = true, runs, c.Hash()
	return f, printed.DoctorCheck{Name: "config", Level: "ok", Text: "valid, " + text.Count(f.Runs, "run")}
}

const gemmSize = 768 // three matrices of 2.25 MiB: beyond the second-level cache

func kernels() printed.Kernel {
	r := printed.Kernel{Current: kernel.Setting(), Forced: os.Getenv(kernel.EnvLevel), Size: gemmSize}
	for _, l := range kernel.Levels() {
		r.Available = append(r.Available, l.String())
	}
	threads := par.Threads()
	r.AllGFLOPS = measureGemm(gemmSize)
	par.SetThreads(1)
	r.OneGFLOPS = measureGemm(gemmSize)
	par.SetThreads(threads)
	return r
}

// measureGemm returns the best speed of an n x n x n product within about 0.1 s,
// in 10^9 floating-point operations a second.
func measureGemm(n int) float64 {
	stream := rng.New(0, "doctor")
	a, b, c := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	for i := range a {
		a[i], b[i] = stream.Float32(), stream.Float32()
	}
	best := 0.0
	for start, runs := time.Now(), 0; runs < 2 || time.Since(start) < 100*time.Millisecond; runs++ {
		t := time.Now()
		kernel.Gemm(false, false, n, n, n, 1, a, n, b, n, 0, c, n)
		best = max(best, 2*float64(n)*float64(n)*float64(n)/time.Since(t).Seconds()/1e9)
	}
	return best
}

func modules() []printed.Module {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var out []printed.Module
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		out = append(out, printed.Module{Path: m.Path, Version: m.Version})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out
}

// PrintDoctor prints the verdicts first: they are what was asked for.
func PrintDoctor(w io.Writer, d printed.Doctor, modules bool) error {
	var b strings.Builder
	for _, c := range d.Checks {
		fmt.Fprintf(&b, "%-5s %s: %s\n", c.Level, c.Name, c.Text)
	}
	b.WriteString("\n")
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s "+format+"\n", append([]any{name}, args...)...)
	}
	line("version", "%s, %s, %s/%s", d.Build.Version, d.Build.Go, d.Build.OS, d.Build.Arch)
	line("cpu", "%s, %s", d.CPU.Brand, text.Count(d.CPU.Count, "processor"))
	line("features", "%s", strings.Join(d.CPU.Features, " "))
	line("kernel", "%s (available: %s)", d.Kernel.Current, strings.Join(d.Kernel.Available, ", "))
	line("gemm", "%.0f GFLOP/s on one thread, %.0f on %d (%d x %d, float32)",
		d.Kernel.OneGFLOPS, d.Kernel.AllGFLOPS, d.CPU.Threads, d.Kernel.Size, d.Kernel.Size)
	if d.Memory != nil {
		line("memory", "%s, %s available", bytesText(d.Memory.Total), bytesText(d.Memory.Available))
	}
	for _, m := range d.Modules {
		if modules {
			line("module", "%s %s", m.Path, m.Version)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func bytesText(n uint64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
