package attack

// preservingAttacks are SPQA+, SPQA-.
var preservingAttacks []entry
