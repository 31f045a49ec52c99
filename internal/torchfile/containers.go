package torchfile

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"io"
	"strings"

	"tercet/internal/safetensors"
)

// openZip reads the pickle of a zip container: NAME/data.pkl, with the numbers of the
// storages in NAME/data/KEY. PyTorch compresses nothing.
func openZip(r io.ReaderAt, size int64) (container, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return container{}, bad("it begins as a zip file and is none: %v; is it truncated?", err)
	}
	entries := map[string]*zip.File{}
	var pickles []*zip.File
	left := uint64(size)
	for _, f := range z.File {
		if f.UncompressedSize64 > left {
			return container{}, bad("its entries have more bytes than the file, from %s on", short(f.Name))
		}
		left -= f.UncompressedSize64
		if _, twice := entries[f.Name]; twice {
			return container{}, bad("%s is listed twice in its archive", short(f.Name))
		}
		entries[f.Name] = f
		if strings.HasSuffix(f.Name, "/data.pkl") {
			pickles = append(pickles, f)
		}
	}
	if len(pickles) != 1 {
		return container{}, bad("it is a zip file with %d entries data.pkl, and torch.save writes one", len(pickles))
	}
	root := strings.TrimSuffix(pickles[0].Name, "data.pkl")
	if entries[root+"constants.pkl"] != nil {
		return container{}, bad("it is a TorchScript archive; load it in PyTorch and save state_dict()")
	}
	if f := entries[root+"byteorder"]; f != nil {
		b, err := readEntry(f, 16)
		if err != nil {
			return container{}, err
		}
		if string(b) != "little" {
			return container{}, bad("its numbers are %s-endian; little-endian ones are read", short(string(b)))
		}
	}
	pickle, err := stored(pickles[0])
	if err != nil {
		return container{}, err
	}
	defer pickle.Close()
	object, _, err := unpickle(bufio.NewReader(pickle), map[string]*storage{})
	open := func(s *storage) (io.ReadCloser, error) {
		f := entries[root+"data/"+s.key]
		want := uint64(s.numel) * uint64(safetensors.Width(s.dtype))
		switch {
		case f == nil:
			return nil, bad("its archive has no entry %sdata/%s", short(root), short(s.key))
		case f.UncompressedSize64 != want:
			return nil, bad("entry %s has %d bytes, and its tensors need %d", short(f.Name), f.UncompressedSize64, want)
		}
		return stored(f)
	}
	return container{object, open}, err
}

// stored opens an entry that is not compressed: its size is then that of its bytes in
// the file.
func stored(f *zip.File) (io.ReadCloser, error) {
	if f.Method != zip.Store || f.UncompressedSize64 != f.CompressedSize64 {
		return nil, bad("entry %s is compressed, and torch.save compresses nothing", short(f.Name))
	}
	r, err := f.Open()
	if err != nil {
		return nil, bad("entry %s: %v", short(f.Name), err)
	}
	return r, nil
}

// readEntry returns the content of a small entry.
func readEntry(f *zip.File, most int64) ([]byte, error) {
	r, err := stored(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return nil, bad("entry %s: %v", short(f.Name), err)
	}
	return b, nil
}

// magic begins the stream: the bytes of 0x1950a86a20f9469cfc6c.
const magic = long("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")

// openStream reads the pickles of the older container: magic, protocol 1001, the
// machine that wrote it, the object, the keys of the storages. The storages follow in
// that order, each with its length before it.
func openStream(r io.ReaderAt, size int64) (container, error) {
	in := bufio.NewReader(io.NewSectionReader(r, 0, size))
	storages, at := map[string]*storage{}, int64(0)
	next := func() (any, error) {
		v, n, err := unpickle(in, storages)
		at += n
		return v, err
	}
	if v, err := next(); err != nil || v != magic {
		return container{}, bad("it begins neither as a file of torch.save nor as one of safetensors")
	}
	if v, err := next(); err != nil || v != int64(1001) {
		return container{}, bad("its protocol is not 1001, that of torch.save")
	}
	system, err := next()
	if err != nil {
		return container{}, err
	}
	if d, ok := system.(*dict); !ok || d.get("little_endian") != true {
		return container{}, bad("its numbers are big-endian; little-endian ones are read")
	}
	object, err := next()
	if err != nil {
		return container{}, err
	}
	keys, err := next()
	if err != nil {
		return container{}, err
	}
	places, err := placesOf(r, size, at, keys, storages)
	open := func(s *storage) (io.ReadCloser, error) {
		place, ok := places[s.key]
		if !ok {
			return nil, bad("storage %s is not in it", short(s.key))
		}
		return io.NopCloser(io.NewSectionReader(r, place, s.numel*int64(safetensors.Width(s.dtype)))), nil
	}
	return container{object, open}, err
}

// placesOf returns where the storages of a stream lie that begin at byte at.
func placesOf(r io.ReaderAt, size, at int64, keys any, storages map[string]*storage) (map[string]int64, error) {
	l, ok := keys.(*list)
	if !ok {
		return nil, bad("it has %s where the keys of its storages should be", kindOf(keys))
	}
	places := map[string]int64{}
	for _, k := range l.items {
		key, _ := k.(string)
		s := storages[key]
		if s == nil {
			return nil, bad("it lists a storage that no tensor has")
		}
		var head [8]byte
		if _, err := r.ReadAt(head[:], at); err != nil {
			return nil, bad("it ends before storage %s: is it truncated?", short(key))
		}
		at += int64(len(head))
		n, width := binary.LittleEndian.Uint64(head[:]), int64(safetensors.Width(s.dtype))
		if n != uint64(s.numel) || s.numel > (size-at)/width {
			return nil, bad("storage %s of %d numbers at byte %d has %d, and %d bytes follow: is it truncated?", short(key), s.numel, at, n, size-at)
		}
		places[key] = at
		at += s.numel * width
	}
	return places, nil
}

// limitOf is how much memory tensors of a file of that size may take.
func limitOf(size int64) int64 { return 2*size + 64<<10 }

// load reads the tensors of d, those of one storage together.
func (w *Weights) load(d *dict, c container, size int64) error {
	users := map[*storage][]int{}
	var order []*storage
	var views []*tensor
	left := limitOf(size) / 4
	for _, i := range d.items {
		name, isText := i.key.(string)
		t, isTensor := i.value.(*tensor)
		if !isTensor || !isText {
			w.Others = append(w.Others, keyWords(i.key))
			continue
		}
		if left -= t.count(); left < 0 {
			return bad("its tensors take more than twice the memory of the file: views of one storage that are larger than it")
		}
		if users[t.of] == nil {
			order = append(order, t.of)
		}
		users[t.of] = append(users[t.of], len(views))
		views = append(views, t)
		shape := make([]int, len(t.size))
		for a, d := range t.size {
			shape[a] = int(d)
		}
		w.Tensors = append(w.Tensors, safetensors.Tensor{Name: name, Shape: shape})
	}
	for _, s := range order {
		if err := w.read(s, c, users[s], views); err != nil {
			return err
		}
	}
	return nil
}

// read fills the tensors of one storage.
func (w *Weights) read(s *storage, c container, users []int, views []*tensor) error {
	r, err := c.open(s)
	if err != nil {
		return err
	}
	defer r.Close()
	if len(users) == 1 && views[users[0]].whole() {
		data := make([]float32, s.numel)
		w.Tensors[users[0]].Data = data
		err = safetensors.ReadNumbers(r, s.dtype, data)
	} else {
		raw := make([]byte, s.numel*int64(safetensors.Width(s.dtype)))
		_, err = io.ReadFull(r, raw)
		for _, u := range users {
			w.Tensors[u].Data = views[u].gather(raw)
		}
	}
	if err == nil { // the sum of a zip entry is compared at its end
		_, err = io.Copy(io.Discard, r)
	}
	if err != nil {
		return bad("storage %s: %v", short(s.key), err)
	}
	return nil
}

// whole says that t is its storage, row-major.
func (t *tensor) whole() bool {
	want := int64(1)
	for i := len(t.size) - 1; i >= 0; i-- {
		if t.size[i] != 1 && t.stride[i] != want {
			return false
		}
		want *= t.size[i]
	}
	return t.offset == 0 && want == t.of.numel
}

// gather copies the numbers of t from the bytes of its storage, row-major.
func (t *tensor) gather(raw []byte) []float32 {
	width, value := safetensors.Number(t.of.dtype)
	out := make([]float32, t.count())
	index := make([]int64, len(t.size))
	at := t.offset
	for i := range out {
		out[i] = value(raw[at*int64(width):])
		for a := len(index) - 1; a >= 0; a-- {
			index[a]++
			at += t.stride[a]
			if index[a] < t.size[a] {
				break
			}
			at -= index[a] * t.stride[a]
			index[a] = 0
		}
	}
	return out
}
