package printed

import "encoding/json"

// ShownConfig is what tercet config show prints, schema tercet.config/1.
type ShownConfig struct {
	Schema  string   `json:"schema" doc:"the name and number of the schema"`
	Hash    string   `json:"hash" doc:"hash of the config, as in manifests"`
	Runs    int      `json:"runs" doc:"number of runs of the sweep"`
	Config  Values   `json:"config" doc:"every key with its value, by section"`
	Origins []Origin `json:"origins" doc:"where each value comes from, in the order of the keys"`
}

// Values are those of a config: sections as maps of their keys.
type Values any

// Origin says where the value of a key comes from.
type Origin struct {
	Key   string `json:"key" doc:"key"`
	Value string `json:"value" doc:"value as YAML"`
	From  string `json:"from" doc:"'default', FILE:LINE or the name of an option"`
}

// ConfigCheck is what tercet config check prints, schema tercet.config-check/1.
type ConfigCheck struct {
	Schema string        `json:"schema" doc:"the name and number of the schema"`
	OK     bool          `json:"ok" doc:"whether all are valid"`
	Files  []CheckedFile `json:"files" doc:"each config"`
}

// CheckedFile is a config that was checked.
type CheckedFile struct {
	File  string `json:"file" doc:"file"`
	OK    bool   `json:"ok" doc:"whether it is valid"`
	Runs  int    `json:"runs,omitempty" doc:"number of runs of the sweep"`
	Hash  string `json:"hash,omitempty" doc:"hash of the config"`
	Note  string `json:"note,omitempty" doc:"a note, such as what only the data can show"`
	Error string `json:"error,omitempty" doc:"what is wrong"`
}

// ConfigKeys is what tercet config keys prints, schema tercet.config-keys/1.
type ConfigKeys struct {
	Schema string      `json:"schema" doc:"the name and number of the schema"`
	Keys   []ConfigKey `json:"keys" doc:"the keys, in the order of the sections"`
}

// ConfigKey describes one key.
type ConfigKey struct {
	Key     string        `json:"key" doc:"key, with its section"`
	With    []string      `json:"with,omitempty" doc:"components that have it; absent if all do"`
	Default string        `json:"default" doc:"default of the first of them"`
	Valid   string        `json:"valid,omitempty" doc:"allowed values"`
	Values  []ConfigValue `json:"values,omitempty" doc:"of a key with a few values"`
	Doc     string        `json:"doc" doc:"meaning"`

	Chooses bool `json:"-"` // it names the component of its section
}

// ConfigValue is a value that a key may take.
type ConfigValue struct {
	Value string `json:"value" doc:"value"`
	Doc   string `json:"doc,omitempty" doc:"meaning, of a component"`
}

// ConfigSchemaText is what tercet config schema prints, schema tercet.config-schema/1.
type ConfigSchemaText struct {
	Schema     string          `json:"schema" doc:"the name and number of the schema"`
	JSONSchema json.RawMessage `json:"json_schema" doc:"JSON Schema of configs, draft 7"`
}

// ConfigInit is what tercet config init prints, schema tercet.config-init/1.
type ConfigInit struct {
	Schema string `json:"schema" doc:"the name and number of the schema"`
	File   string `json:"file,omitempty" doc:"file that was written"`
	Text   string `json:"text" doc:"the config"`
}
