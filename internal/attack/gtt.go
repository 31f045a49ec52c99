package attack

// translocationAttacks are GTT.
var translocationAttacks []entry
