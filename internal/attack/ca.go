package attack

// candidateAttacks are CA+, CA-.
var candidateAttacks []entry
