package attack

// topAttacks are LTM, GTM.
var topAttacks []entry
