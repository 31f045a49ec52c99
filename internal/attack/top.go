package attack

// topAttacks are LTM, GTM.
var topAttacks = []entry{
	{"LTM", "learning to mis-rank: all other labels nearer than the query's own", newLTM},
	{"GTM", "greedy top-1 misranking: towards the nearest item of another label", newGTM},
}
