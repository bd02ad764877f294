package main

import (
	"reflect"
	"testing"
)

const help = `post merges, draws and shows results. It measures nothing.

Every command reads ./results or what is named.

Usage:
  post [command]

Commands:
  merge       one table of many files
  help        help about any command
    deeper    belongs to the line above

Flags
  -o, --out DIR   .dots at the start of a word are kept
`

func TestPage(t *testing.T) {
	const want = `.TH "POST" 1 "" "busbar 1" "busbar"
.SH NAME
post \- merges, draws and shows results
.SH DESCRIPTION
It measures nothing.
.PP
Every command reads ./results or what is named.
.PP
.SH USAGE
.nf
  post [command]
.sp
.fi
.SH COMMANDS
.nf
  merge       one table of many files
  help        help about any command
    deeper    belongs to the line above
.sp
.fi
.SH FLAGS
.nf
  \-o, \-\-out DIR   .dots at the start of a word are kept
.fi
`
	if got := page("post", "busbar 1\nmore", help); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCommands(t *testing.T) {
	if got := commands(help); !reflect.DeepEqual(got, []string{"merge"}) {
		t.Errorf("got %q", got)
	}
}
