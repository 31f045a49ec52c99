package attack

// queryAttacks are QA+, QA-.
var queryAttacks []entry
