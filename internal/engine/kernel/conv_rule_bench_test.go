//go:build unix

package kernel

import (
	"slices"
	"syscall"
	"testing"

	"tercet/internal/par"
)

// BenchmarkRule compares the algorithm that the rule chooses with the others, for the layers of
// the jobs of tercet bench that have a choice: calls interleaved, one thread. It reports medians
// of processor time, and what the rule's choice loses against the fastest, in percent. Give a
// fixed number of rounds: -benchtime=9x.
func BenchmarkRule(b *testing.B) {
	defer par.SetThreads(par.Threads())
	par.SetThreads(1)
	for _, c := range []struct {
		name string
		g    Conv
	}{
		{"c2f2-1", square(28, 1, 32, 5, 1, 2)},
		{"c2f2-2", square(14, 32, 64, 5, 1, 2)},
		{"cnn47-1", square(28, 1, 47, 3, 1, 1)},
		{"cnn47-2", square(28, 47, 94, 3, 1, 1)},
		{"cnn47-3", square(14, 94, 94, 3, 1, 1)},
		{"rn18-1", square(56, 64, 64, 3, 1, 1)},
		{"rn18-2", square(28, 128, 128, 3, 1, 1)},
		{"rn18-3", square(14, 256, 256, 3, 1, 1)},
		{"rn18-4", square(7, 512, 512, 3, 1, 1)},
		{"rn18-64-1", square(16, 64, 64, 3, 1, 1)},
		{"rn18-64-2", square(8, 128, 128, 3, 1, 1)},
		{"rn18-64-3", square(4, 256, 256, 3, 1, 1)},
		{"rn18-64-4", square(2, 512, 512, 3, 1, 1)},
	} {
		n, rule := max(24, c.g.measuredBatch()), c.g.ruledPlan(Current()) // rn18 has steps of 24
		oh, ow := c.g.Out()
		x, w, y := random(1, n*c.g.H*c.g.W*c.g.C), random(2, c.g.patch()*c.g.OutC), random(3, n*oh*ow*c.g.OutC)
		out, dx, dw := make([]float32, len(y)), make([]float32, len(x)), make([]float32, len(w))
		for _, pass := range []struct {
			name   string
			chosen Algorithm
			f      func(a Algorithm)
		}{
			{"forward", rule.Fwd, func(a Algorithm) { (&ConvPlan{Conv: c.g, Fwd: a}).Forward(n, x, w, nil, false, out) }},
			{"input", rule.Input, func(a Algorithm) { (&ConvPlan{Conv: c.g, Input: a}).BackwardInput(n, y, w, dx) }},
			{"weights", rule.Weights, func(a Algorithm) { (&ConvPlan{Conv: c.g, Weights: a}).BackwardWeights(n, x, y, dw, nil) }},
		} {
			b.Run(c.name+"/"+pass.name+"/"+pass.chosen.String(), func(b *testing.B) {
				all := c.g.algorithms()
				times := make([][]float64, len(all))
				for _, a := range all {
					pass.f(a) // grows its buffers
				}
				for b.Loop() {
					for i, a := range all {
						start := spent()
						pass.f(a)
						times[i] = append(times[i], spent()-start)
					}
				}
				b.ReportMetric(0, "ns/op")
				chosen, least := 0.0, 0.0
				for i, a := range all {
					slices.Sort(times[i])
					t := times[i][len(times[i])/2]
					b.ReportMetric(1e3*t, a.String()+"-ms")
					if i == 0 || t < least {
						least = t
					}
					if a == pass.chosen {
						chosen = t
					}
				}
				b.ReportMetric(100*(chosen/least-1), "loss-%")
			})
		}
	}
}

// spent is the processor time of this process, in seconds.
func spent() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
