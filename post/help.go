package main

// helpTemplate is a command's help: the manual, at most 80 columns wide.
const helpTemplate = `{{.Short}}

{{.Long}}

Usage:
  {{if .HasParent}}{{.UseLine}}{{else}}post FILE|DIR...
  post COMMAND [flags] [FILE|DIR...]{{end}}
{{with .Example}}
Examples:
{{.}}
{{end}}{{$commands := .Commands}}{{range $group := .Groups}}
{{.Title}}:
{{range $commands}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}` +
	`  {{rpad .Name 12}}{{.Short}}
{{end}}{{end}}{{end}}{{if not (and .HasParent .HasSubCommands)}}
Flags:
{{.LocalFlags.FlagUsagesWrapped 80}}{{else}}
Commands:
{{range $commands}}  {{rpad .Name 12}}{{.Short}}
{{end}}{{end}}
Exit codes:
  0  done, possibly with warnings (incomplete last line, skipped file)
  1  wrong usage
  2  nothing usable to read, or output that cannot be written
  7  --fail-above: slower or failed points; --fail-below: lower bandwidth;
     --fail-on: notices of this severity
  130, 143  stopped by SIGINT (Ctrl-C) or SIGTERM; no file is half written
`
