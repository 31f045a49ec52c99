package attack

// shiftAttacks are TMA, ES.
var shiftAttacks []entry
