package doctor

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tercet/internal/record/printed"
)

// Memory reads /proc/meminfo and the limit of the container, nil if it cannot.
func Memory() *printed.Memory {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	var m printed.Memory
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		kib, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			continue
		}
		switch words[0] {
		case "MemTotal:":
			m.Total = kib << 10
		case "MemAvailable:":
			m.Available = kib << 10
		}
	}
	if m.Total == 0 {
		return nil
	}
	limit, ok1 := readUint("/sys/fs/cgroup/memory.max")
	used, ok2 := readUint("/sys/fs/cgroup/memory.current")
	if ok1 && ok2 && limit < m.Total {
		m.Total = limit
		m.Available = min(m.Available, limit-min(used, limit))
	}
	return &m
}

// checkPages says whether the system backs large arrays with large pages; false where it does
// not say.
func checkPages() (printed.DoctorCheck, bool) {
	data, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		return printed.DoctorCheck{}, false
	}
	if strings.Contains(string(data), "[never]") {
		return printed.DoctorCheck{Name: "pages", Level: "warn", Text: "transparent huge pages are off, training is a few percent slower (as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled)"}, true
	}
	return printed.DoctorCheck{Name: "pages", Level: "ok", Text: "large arrays get huge pages"}, true
}

func readUint(path string) (uint64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64) // "max" where there is no limit
	return n, err == nil
}

// diskFree returns the bytes that this user may still write below path.
func diskFree(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", path, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}
