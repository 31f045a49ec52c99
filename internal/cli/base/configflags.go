package base

import (
	"github.com/spf13/cobra"

	"tercet/internal/config"
)

// ConfigFlags are the flags of every command that reads a config.
type ConfigFlags struct {
	Path string
	Sets []string

	skipBroken bool
}

// AddFlags adds the flags of a config: its file and changes of its keys.
func (c *ConfigFlags) AddFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&c.Path, "config", "c", "", "config `FILE` (YAML); without one, the defaults")
	c.AddSet(cmd)
}

// AddSet adds the flag that changes keys of a config.
func (c *ConfigFlags) AddSet(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.Sets, "set", nil, "override a config key: `KEY=VALUE` such as optimizer.lr=1e-4 (repeatable)")
}

// AddSkipBroken adds the flag of commands that read the images of a config.
func (c *ConfigFlags) AddSkipBroken(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.skipBroken, "skip-broken", false, "skip image files that cannot be decoded, and list them (data.skip_broken)")
}

// Overrides are what the flags lay over the config.
func (c *ConfigFlags) Overrides() ([]config.Override, error) {
	over, err := config.ParseSets(c.Sets)
	if c.skipBroken {
		over = append(over, config.Override{Key: "data.skip_broken", Value: "true", From: "--skip-broken"})
	}
	return over, err
}

// Load reads the config that the flags name, and says which of its keys have old names.
func (c *ConfigFlags) Load(s *Streams) (*config.Config, error) {
	over, err := c.Overrides()
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadWith(c.Path, over)
	if err != nil {
		return nil, err
	}
	NoteOldKeys(s, cfg)
	return cfg, nil
}
