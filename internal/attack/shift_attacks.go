package attack

// shiftAttacks are TMA, ES.
var shiftAttacks = []entry{
	{"TMA", "targeted mismatch: towards the direction of a random gallery item", newTMA},
	{"ES", "embedding shift: as far from the clean embedding as possible", newEmbeddingShift},
}
