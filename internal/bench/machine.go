package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tercet/internal/engine/kernel"
	"tercet/internal/record/printed"
)

// MeasurePeak fills m.Peak for these numbers of threads. Jobs that are measured for less
// than half a second get a peak that is measured as briefly.
func MeasurePeak(m *printed.Machine, threads []int, seconds float64) {
	for _, n := range threads {
		other := func(burst func() float64) float64 { return peak(n, shorter(bursts/8, seconds), burst) / 1e9 }
		m.Peak = append(m.Peak, printed.Speed{
			Threads: n, GFLOPS: PeakFLOPS(n, shorter(bursts, seconds)) / 1e9,
			BF16:      other(func() float64 { return kernel.PeakBF16(burstSteps) }),
			BF16Tiles: other(func() float64 { return kernel.PeakTiles(false, burstSteps/16) }),
			ByteTiles: other(func() float64 { return kernel.PeakTiles(true, burstSteps/16) }),
		})
	}
}

// MeasureCopy is MeasurePeak of m.Copy.
func MeasureCopy(m *printed.Machine, threads []int, seconds float64) {
	for _, n := range threads {
		m.Copy = append(m.Copy, printed.Speed{Threads: n, GBPerS: copyRate(n, shorter(copyTries, seconds)) / 1e9})
	}
}

// shorter is how many of n repetitions, of half a second together, fit into that time.
func shorter(n int, seconds float64) int { return max(2, int(float64(n)*min(1, 2*seconds))) }

const (
	burstSteps = 20_000 // of the FMA loop: about a tenth of a millisecond, less than a time slice
	bursts     = 4000
	copyTries  = 8
	copyBytes  = 128 << 20 // beyond the caches
)

// PeakFLOPS returns the machine's fused multiply-adds on registers alone, in
// FLOP/s: the most that any product can reach at the current kernel level with
// that many threads. It is the sum over the threads of each one's best burst
// while all were at work, of so many: other programs can only slow a burst down. Threads
// beyond the processors take turns and add nothing.
func PeakFLOPS(threads, bursts int) float64 {
	level := kernel.Current()
	return peak(threads, bursts, func() float64 { return kernel.PeakFMA(level, burstSteps) })
}

// peak is PeakFLOPS for any burst, which returns how many operations it did.
func peak(threads, bursts int, burst func() float64) float64 {
	threads = min(threads, runtime.GOMAXPROCS(0))
	best := make([]float64, threads)
	var started, finished atomic.Int64
	together(threads, func(i int) {
		started.Add(1)
		for range bursts {
			alone := started.Load() < int64(threads)
			start := time.Now()
			flops := burst()
			rate := flops / time.Since(start).Seconds()
			alone = alone || finished.Load() > 0
			if !alone || best[i] == 0 {
				best[i] = max(best[i], rate)
			}
		}
		finished.Add(1)
	})
	sum := 0.0
	for _, rate := range best {
		sum += rate
	}
	return sum
}

// copyRate returns how fast memory is copied, in bytes read and written a
// second, by that many threads with buffers of their own.
func copyRate(threads, tries int) float64 {
	size := copyBytes / 2 / threads
	from, to := make([][]byte, threads), make([][]byte, threads)
	for i := range threads {
		from[i], to[i] = make([]byte, size), make([]byte, size)
		for k := 0; k < size; k += 1 << 10 {
			from[i][k] = 1 // a page that was never written is no memory
		}
		copy(to[i], from[i])
	}
	best := 0.0
	for range tries {
		took := together(threads, func(i int) { copy(to[i], from[i]) })
		best = max(best, float64(2*size*threads)/took.Seconds())
	}
	runtime.KeepAlive(to)
	return best
}

// together runs f(0) to f(n-1) at the same time and returns how long it took.
func together(n int, f func(i int)) time.Duration {
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			f(i)
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	return time.Since(start)
}
