package printed

// Devices is what tercet device list prints, schema tercet.devices/1.
type Devices struct {
	Schema  string   `json:"schema" doc:"the name and number of the schema"`
	Devices []Device `json:"devices" doc:"devices that can compute networks, besides the processor"`
	Missing []string `json:"missing" doc:"why a driver has no devices"`
}

// Device is a device of a driver.
type Device struct {
	Name    string `json:"name" doc:"name, as commands and 'train.device' take it"`
	Device  string `json:"device" doc:"the vendor's name"`
	Driver  string `json:"driver" doc:"library or platform, and its version"`
	Memory  int64  `json:"memory_bytes" doc:"size of its memory"`
	Kernels string `json:"kernels" doc:"first digits of the SHA-256 of the kernel source"`
	Warning string `json:"warning,omitempty" doc:"caveat about the driver"`
}
