package base

// UsageTemplate is how cobra prints the usage of a command.
const UsageTemplate = `{{if or .Runnable .HasAvailableSubCommands}}Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{else if .Runnable}}
  {{.UseLine}}{{end}}
{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if .Groups}}{{range $group := .Groups}}
{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) .IsAvailableCommand)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{else}}
Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{end}}{{if .Runnable}}{{flagUsages .}}{{end}}{{with .Annotations}}{{with .exits}}
EXIT STATUS
{{. | trimTrailingWhitespaces}}
{{end}}{{end}}{{if .HasHelpSubCommands}}
More help:{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  tercet help {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}`
