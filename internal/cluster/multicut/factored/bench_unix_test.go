//go:build unix

package factored

import (
	"fmt"
	"syscall"
	"testing"
	"time"
)

// userTime is the processor time of this process, which depends less on a busy machine
// than time by the clock.
func userTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}

// The sizes of docs/performance.md; -bench 'Factored/n=10000'.
func BenchmarkFactored(b *testing.B) {
	for _, c := range []struct {
		n, d, k int
		noise   float64
	}{
		{10_000, 64, 10, 1.2}, {10_000, 64, 10, 2}, {10_000, 64, 100, 1.2}, {10_000, 64, 1000, 1.2},
		{100_000, 128, 10, 1.5}, {100_000, 128, 1000, 1.5}, {100_000, 128, 20_000, 0.5},
		{1_000_000, 64, 10, 1.2}, {1_000_000, 64, 100, 1.2}, {1_000_000, 64, 1000, 1.2}, {1_000_000, 64, 200_000, 0.5},
	} {
		b.Run(fmt.Sprintf("n=%d/d=%d/classes=%d/noise=%v", c.n, c.d, c.k, c.noise), func(b *testing.B) {
			x, truth, tau := sphere(1, c.n, c.d, c.k, c.noise)
			begin := userTime()
			for b.Loop() {
				f := mustGraph(b, x, c.n, c.d, tau, 1)
				r := solveFactored(b, f, Options{})
				b.ReportMetric(float64(len(r.Sizes)), "clusters")
				b.ReportMetric(r.Objective/f.Objective(truth), "of-truth")
			}
			b.ReportMetric((userTime()-begin).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportAllocs()
		})
	}
}
