package printed

import "tercet/internal/record"

// Bands is what tercet report --table worst-band prints, schema tercet.band/1.
type Bands struct {
	Schema string   `json:"schema" doc:"the name and number of the schema"`
	Bands  []Band   `json:"bands" doc:"one for each run and gallery of its worst case"`
	Notes  []string `json:"notes" doc:"why bands or certificates are missing"`
}

// Band holds, over budgets, what is known of queries under attack: from below by certificates,
// from above by attacks.
type Band struct {
	Run     string      `json:"run" doc:"name of the run"`
	Gallery string      `json:"gallery" doc:"'full', 'trimmed' or 'prototype'"`
	Norm    string      `json:"norm" doc:"norm of the budgets: 'linf' or 'l2'"`
	Attack  string      `json:"attack" doc:"ensemble and budget of the attack"`
	Method  string      `json:"method,omitempty" doc:"method of the certificate; absent if these queries have none"`
	Other   bool        `json:"other_system,omitempty" doc:"whether the certificate is about the network under noise, so that it is no lower bound for the attacked network"`
	Queries int         `json:"queries" doc:"number of queries that were attacked and, if there is a certificate, certified"`
	Points  []BandPoint `json:"points" doc:"by ascending budget"`
}

// BandPoint is a band at one budget.
type BandPoint struct {
	Eps       float64       `json:"eps" doc:"budget, pixels in [0, 1]"`
	Certified *record.Value `json:"certified,omitempty" doc:"share of queries that are certified"`
	Unbroken  record.Value  `json:"unbroken" doc:"share of queries that no attack broke"`
	Unknown   *float64      `json:"unknown,omitempty" doc:"share of queries neither certified nor broken"`
}
