package printed

import "slices"

// Binary says what a program is.
type Binary struct {
	Version string `json:"version" doc:"version of Tercet"`
	Commit  string `json:"commit,omitempty" doc:"commit that it was built from"`
	Dirty   bool   `json:"dirty,omitempty" doc:"whether the tree had changes"`
	Go      string `json:"go" doc:"version of Go"`
	OS      string `json:"os" doc:"operating system"`
	Arch    string `json:"arch" doc:"architecture"`
	Kernel  string `json:"kernel" doc:"kernel level in use"`
}

// Bench is what tercet bench prints, schema tercet.bench/1.
type Bench struct {
	Schema  string         `json:"schema" doc:"the name and number of the schema"`
	Build   Binary         `json:"build" doc:"the binary"`
	Machine *Machine       `json:"machine" doc:"the machine"`
	Quick   bool           `json:"quick,omitempty" doc:"whether searches and fits were reduced in size (quick mode)"`
	Results []*BenchResult `json:"results,omitempty" doc:"the jobs; only those done before an interruption"`
	Checks  []*BenchCheck  `json:"checks,omitempty" doc:"of a comparison of bits, instead of results"`
}

// Machine is what a machine can do at best.
type Machine struct {
	CPU     string  `json:"cpu" doc:"name of the processor"`
	Level   string  `json:"kernel" doc:"kernel level in use"`
	Threads int     `json:"threads" doc:"threads in use"`
	Peak    []Speed `json:"peak,omitempty" doc:"multiply-adds in registers, with one thread and with all, or with each number of a comparison of speeds; absent in a comparison of bits"`
	Copy    []Speed `json:"copy,omitempty" doc:"copies of memory; absent in comparisons and after an interruption"`
}

// PeakFLOPS returns the measured peak with m.Threads in FLOP/s, 0 where none was measured.
func (m *Machine) PeakFLOPS() float64 {
	if len(m.Peak) == 0 {
		return 0
	}
	return m.Peak[len(m.Peak)-1].GFLOPS * 1e9
}

// Ends returns the numbers of threads of which Peak and Copy are measured, unless others
// are asked for: one, and all in use.
func (m *Machine) Ends() []int { return slices.Compact([]int{1, m.Threads}) }

// Speed is a rate with a number of threads.
type Speed struct {
	Threads   int     `json:"threads" doc:"number of threads"`
	GFLOPS    float64 `json:"gflops,omitempty" doc:"10^9 operations per second; a multiply-add is two"`
	BF16      float64 `json:"bf16_gflops,omitempty" doc:"the same for dot products of bfloat16, where the processor has them"`
	BF16Tiles float64 `json:"bf16_tile_gflops,omitempty" doc:"the same for products of tiles of bfloat16 (AMX), where processor and system have them"`
	ByteTiles float64 `json:"int8_tile_gops,omitempty" doc:"the same for products of tiles of bytes (AMX), 10^9 integer operations per second"`
	GBPerS    float64 `json:"gb_per_s,omitempty" doc:"10^9 bytes per second, read and written"`
}

// BenchResult is the measurement of one job. Times are those of one repetition: a
// training step, a search, a fit, or each part of the job once.
type BenchResult struct {
	Job         string  `json:"job" doc:"name of the job"`
	What        string  `json:"what" doc:"description"`
	Threads     int     `json:"threads" doc:"number of threads"`
	Repetitions int     `json:"repetitions" doc:"timed repetitions, of all parts together"`
	Seconds     float64 `json:"seconds" doc:"median time of a repetition: one training step, search or fit, or each part once"`
	BestSeconds float64 `json:"seconds_best" doc:"shortest time of a repetition"`
	Images      int     `json:"images_per_step,omitempty" doc:"images, rows ('knn', 'kmeans') or queries ('ers') in a repetition; not for 'gemm' and 'conv'"`
	ImagesPerS  float64 `json:"images_per_s,omitempty" doc:"images per second, median"`
	BestImages  float64 `json:"images_per_s_best,omitempty" doc:"images per second, best"`
	// GFLOPS is absent where the method decides how many operations there are.
	GFLOPS          float64     `json:"gflops,omitempty" doc:"10^9 operations of the textbook method per second, median; a multiply-add is two; not for k-means"`
	BestGFLOPS      float64     `json:"gflops_best,omitempty" doc:"the same, best"`
	ExecutedGFLOPS  float64     `json:"gflops_executed,omitempty" doc:"the same by the operations executed: Winograd's multiplications, no padding, half of a symmetric product"`
	PeakShare       float64     `json:"peak_share,omitempty" doc:"executed operations of the best repetition, as a fraction of the peak with 'threads'"`
	BaseRSS         uint64      `json:"base_rss_bytes,omitempty" doc:"resident size of the process before the job, if the system reports it"`
	PeakRSS         uint64      `json:"peak_rss_bytes,omitempty" doc:"largest resident size of the process during the job, if the system reports it"`
	NetworkSeconds  float64     `json:"network_seconds,omitempty" doc:"of 'ers': median time of its network passes alone, measured interleaved"`
	NetworkRatio    float64     `json:"network_ratio,omitempty" doc:"'seconds' over 'network_seconds'"`
	Parts           []BenchPart `json:"parts,omitempty" doc:"the parts of 'gemm', 'conv' and 'ers'"`
	SurvivorSeconds float64     `json:"survivor_seconds,omitempty" doc:"of 'worst': 'seconds' over the queries that survive every attack"`
	SpeedUp         float64     `json:"speed_up,omitempty" doc:"of a comparison of speeds: over the fewest threads"`
	Efficiency      float64     `json:"efficiency,omitempty" doc:"of a comparison of speeds: the speed-up for each thread"`
	PointSeconds    float64     `json:"point_seconds,omitempty" doc:"of 'dd-point': 'seconds' times the epochs of a double-descent point"`
	// Iterations are those of the seeds 0, 1, ...: how long a fit takes depends on them.
	Iterations   []int     `json:"iterations_of_best_start,omitempty" doc:"iterations of each k-means fit, including the first, which is not timed"`
	Inertia      []float64 `json:"inertia,omitempty" doc:"inertia of each k-means fit"`
	Evaluations  []int     `json:"evaluations,omitempty" doc:"of 'rrm': evaluations of the risk, for each part"`
	Certificates []float64 `json:"certificates,omitempty" doc:"of 'rrm': bound on the distance to the minimum, for each part"`
}

// BenchPart is the measurement of one part of a job.
type BenchPart struct {
	Name           string  `json:"name" doc:"name of the part"`
	Seconds        float64 `json:"seconds" doc:"median time of a repetition"`
	BestSeconds    float64 `json:"seconds_best" doc:"shortest time of a repetition"`
	GFLOPS         float64 `json:"gflops" doc:"as for the job"`
	BestGFLOPS     float64 `json:"gflops_best" doc:"as for the job"`
	ExecutedGFLOPS float64 `json:"gflops_executed" doc:"as for the job"`
	PeakShare      float64 `json:"peak_share,omitempty" doc:"as for the job"`
}

// BenchCheck says whether a job's results have the same bits with one thread and
// with several.
type BenchCheck struct {
	Job         string `json:"job" doc:"name of the job"`
	Threads     [2]int `json:"threads" doc:"the two numbers of threads that are compared"`
	Repetitions int    `json:"repetitions" doc:"repetitions of each part"`
	Arrays      int    `json:"arrays" doc:"number of arrays compared"`
	Identical   bool   `json:"identical" doc:"whether all bits agree"`
	Difference  string `json:"difference,omitempty" doc:"the first array that differs"`
}
