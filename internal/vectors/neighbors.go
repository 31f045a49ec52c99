package vectors

import (
	"strconv"

	"tercet/internal/data/fault"
)

// Neighbors are lists of items, K for each of N queries; -1 where a list is shorter.
type Neighbors struct {
	N, K  int
	Index []int32 // (N, K)
}

// ReadNeighbors reads lists of neighbors, nearest first, of a gallery of so many items.
// Numbers of items begin at 0; -1 stands for none, as faiss has it.
func ReadNeighbors(path string, gallery int) (*Neighbors, error) {
	v, err := open(path, true)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	out := &Neighbors{N: v.n, K: v.d}
	if int64(v.n)*int64(v.d) > maxListed {
		return nil, fault.Bad("%s: %d lists of %d items; at most %d items are read", path, v.n, v.d, int64(maxListed))
	}
	out.Index = make([]int32, 0, v.n*v.d)
	err = v.each(0, v.n, func(row int, raw []byte) error {
		for i := 0; i < len(raw); i += int(v.row) {
			for k := range v.d {
				id, ok := v.number.Int(raw[i+v.lead:], k)
				if !ok || id < -1 || id >= int64(gallery) {
					return fault.Bad("%s: list %d, place %d: item %s is not in a gallery of %d items; -1 stands for none", path, row+i/int(v.row), k, idWord(id, ok), gallery)
				}
				out.Index = append(out.Index, int32(id))
			}
		}
		return nil
	})
	return out, err
}

// maxListed bounds the items of all lists, which are read into memory.
const maxListed = 1 << 31

func idWord(id int64, ok bool) string {
	if !ok {
		return "above 2^63"
	}
	return strconv.FormatInt(id, 10)
}
