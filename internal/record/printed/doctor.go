package printed

// Doctor is what tercet doctor finds, schema tercet.doctor/1.
type Doctor struct {
	Schema  string        `json:"schema" doc:"the name and number of the schema"`
	Build   Binary        `json:"build" doc:"the binary"`
	CPU     CPU           `json:"cpu" doc:"the processor"`
	Kernel  Kernel        `json:"kernel" doc:"the kernel level and its speed"`
	Memory  *Memory       `json:"memory,omitempty" doc:"memory, if the system reports it"`
	Disk    []Disk        `json:"disk" doc:"disks of the current and the temporary folder"`
	Config  *CheckedFile  `json:"config,omitempty" doc:"the config that was named"`
	Modules []Module      `json:"modules" doc:"libraries of the binary"`
	Checks  []DoctorCheck `json:"checks" doc:"the verdicts"`
}

// CPU describes the processor.
type CPU struct {
	Brand    string   `json:"brand" doc:"name"`
	Features []string `json:"features" doc:"instruction sets that kernels can use"`
	Count    int      `json:"count" doc:"logical processors that the program may use"`
	Threads  int      `json:"threads" doc:"threads in use"`
}

// Kernel describes the kernels and their measured speed.
type Kernel struct {
	Current   string   `json:"current" doc:"level in use"`
	Available []string `json:"available" doc:"levels of this processor and build"`
	Forced    string   `json:"forced,omitempty" doc:"value of 'TERCET_KERNEL'"`
	Size      int      `json:"gemm_size" doc:"rows and columns of the matrices that are multiplied"`
	OneGFLOPS float64  `json:"gemm_gflops_one_thread" doc:"10^9 operations per second with one thread"`
	AllGFLOPS float64  `json:"gemm_gflops" doc:"10^9 operations per second with all threads"`
}

// Memory is the main memory.
type Memory struct {
	Total     uint64 `json:"total_bytes" doc:"size; the container's limit if that is smaller"`
	Available uint64 `json:"available_bytes" doc:"what is available"`
}

// Disk is the disk of a folder.
type Disk struct {
	Path  string `json:"path" doc:"folder"`
	Free  uint64 `json:"free_bytes" doc:"free space"`
	Error string `json:"error,omitempty" doc:"why it is not known"`
}

// Module is a library and its version.
type Module struct {
	Path    string `json:"path" doc:"module path"`
	Version string `json:"version" doc:"version"`
}

// DoctorCheck is one verdict.
type DoctorCheck struct {
	Name  string `json:"name" doc:"what was checked"`
	Level string `json:"level" doc:"'ok', 'warn' or 'fail'"`
	Text  string `json:"text" doc:"the finding"`
}
