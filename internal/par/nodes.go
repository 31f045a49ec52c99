package par

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A machine with several sockets has several nodes, each with processors and memory of its
// own. Linux takes a page of memory from the node of the thread that first writes to it, and a
// thread gets the same part of each loop: so it finds what it wrote in memory nearby, as long
// as it stays on its node. Workers therefore keep to processors of one node, if the program
// uses all processors that it may use. With fewer threads the system knows better where there
// is room, for instance beside other programs.

// EnvNUMA is the environment variable that decides it: "auto" (or unset) as above, "off" leaves
// workers to the system.
const EnvNUMA = "TERCET_NUMA"

// StartError says that EnvNUMA has an unknown value.
func StartError() error {
	switch v := os.Getenv(EnvNUMA); v {
	case "", "auto", "off":
		return nil
	default:
		return fmt.Errorf("environment variable %s: unknown choice %q (valid: auto, off)", EnvNUMA, v)
	}
}

// nodesOf returns the processors of each node that a program may use, from a folder like
// /sys/devices/system/node; nil where there is only one such node or the folder does not say.
func nodesOf(system fs.FS, allowed func(processor int) bool) [][]int {
	online, err := readList(system, "online")
	if err != nil {
		return nil
	}
	var nodes [][]int
	for _, n := range online {
		own, err := readList(system, path.Join(fmt.Sprint("node", n), "cpulist"))
		if err != nil {
			return nil
		}
		own = slices.DeleteFunc(own, func(p int) bool { return !allowed(p) })
		if len(own) > 0 {
			nodes = append(nodes, own)
		}
	}
	if len(nodes) < 2 {
		return nil
	}
	return nodes
}

// readList reads a file of numbers and spans, as "0-3,8".
func readList(system fs.FS, name string) ([]int, error) {
	text, err := fs.ReadFile(system, name)
	if err != nil {
		return nil, err
	}
	var list []int
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		if part == "" { // a node without processors
			continue
		}
		first, last, span := strings.Cut(part, "-")
		if !span {
			last = first
		}
		lo, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return nil, err
		}
		hi, err := strconv.ParseUint(last, 10, 16)
		if err != nil {
			return nil, err
		}
		for p := lo; p <= hi; p++ {
			list = append(list, int(p))
		}
	}
	return list, nil
}

// nodeFor returns the node of worker id, -1 for none: threads are dealt to the nodes in
// order, as many to each as it has processors.
func nodeFor(nodes [][]int, id, threads int) int {
	all := 0
	for _, own := range nodes {
		all += len(own)
	}
	if all == 0 || threads < all {
		return -1
	}
	at := id % threads * all / threads
	for n, own := range nodes {
		if at -= len(own); at < 0 {
			return n
		}
	}
	return -1
}
