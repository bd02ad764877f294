package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// notExported are metrics that an import of nccl-tests has no values for; busbar's own runs have them.
var notExported = []string{"busbar_time_low_seconds", "busbar_time_high_seconds", "busbar_last_run_timestamp_seconds"}

// ofPrometheus are labels that Prometheus adds.
var ofPrometheus = []string{"instance", model.MetricNameLabel}

// load decodes a dashboard with Grafana's types; unknown fields are errors.
func load(text []byte) (dashboard.Dashboard, error) {
	plugins.RegisterDefaultPlugins()
	var strict, d dashboard.Dashboard
	err := strict.UnmarshalJSONStrict(text)
	var found cog.BuildErrors
	if errors.As(err, &found) && len(found) == 0 { // the types return an empty list as an error, and keep no panel
		err = nil
	}
	if err = errors.Join(err, json.Unmarshal(text, &d)); err != nil {
		return d, err
	}
	return d, d.Validate()
}

func read(t *testing.T) (dashboard.Dashboard, string) {
	t.Helper()
	text, err := os.ReadFile("../busbar.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	return d, string(text)
}

// queries are the PromQL expressions of the panels and their legends.
func queries(t *testing.T, d dashboard.Dashboard) (found []prometheus.Dataquery) {
	t.Helper()
	for _, p := range d.Panels {
		if p.Panel == nil || len(p.Panel.Targets) == 0 {
			t.Fatalf("a panel without a query: %+v", p)
		}
		for _, target := range p.Panel.Targets {
			query, ok := target.(*prometheus.Dataquery)
			if !ok {
				t.Fatalf("%s: the query is a %T", *p.Panel.Title, target)
			}
			found = append(found, *query)
		}
	}
	return found
}

var variable = regexp.MustCompile(`\$\{?([a-z_]+)\}?`)

// problems are the metrics, labels and variables of an expression that do not exist.
func problems(expr string, metrics, labelNames, variables []string) (found []string) {
	for _, m := range variable.FindAllStringSubmatch(expr, -1) {
		if !slices.Contains(variables, m[1]) {
			found = append(found, "variable "+m[1])
		}
	}
	tree, err := parser.NewParser(parser.Options{}).ParseExpr(variable.ReplaceAllString(expr, "x"))
	if err != nil {
		return append(found, err.Error())
	}
	selectors := 0
	label := func(name string) {
		if !slices.Contains(labelNames, name) {
			found = append(found, "label "+name)
		}
	}
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			selectors++
			if !slices.Contains(metrics, n.Name) {
				found = append(found, "metric "+n.Name)
			}
			for _, m := range n.LabelMatchers {
				label(m.Name)
			}
		case *parser.AggregateExpr:
			for _, name := range n.Grouping {
				label(name)
			}
		}
		return nil
	})
	if selectors == 0 {
		found = append(found, "no metric")
	}
	return found
}

// known are the metrics and labels that post exports.
func known(t *testing.T) (metrics, labelNames []string) {
	t.Helper()
	all := families(t)
	names := map[string]bool{}
	for _, f := range all {
		for _, m := range f.GetMetric() {
			for name := range labelsOf(m) {
				names[name] = true
			}
		}
	}
	return append(slices.Collect(maps.Keys(all)), notExported...),
		append(slices.Collect(maps.Keys(names)), ofPrometheus...)
}

func TestDashboardUsesExportedMetrics(t *testing.T) {
	d, _ := read(t)
	metrics, labelNames := known(t)
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	legend := regexp.MustCompile(`\{\{(\w+)\}\}`)
	all := queries(t, d)
	if len(all) < 6 {
		t.Errorf("only %d queries", len(all))
	}
	for _, q := range all {
		if found := problems(q.Expr, metrics, labelNames, variables); len(found) > 0 {
			t.Errorf("%s: %v", q.Expr, found)
		}
		if q.LegendFormat != nil {
			for _, m := range legend.FindAllStringSubmatch(*q.LegendFormat, -1) {
				if !slices.Contains(labelNames, m[1]) {
					t.Errorf("the legend %q has the unknown label %s", *q.LegendFormat, m[1])
				}
			}
		}
	}
	values := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
	for _, v := range d.Templating.List {
		if v.Query == nil || v.Query.Map == nil {
			continue // that of the data source
		}
		m := values.FindStringSubmatch(fmt.Sprint(v.Query.Map["query"]))
		if m == nil || !slices.Contains(metrics, m[1]) || !slices.Contains(labelNames, m[2]) {
			t.Errorf("variable %s: %v", v.Name, v.Query.Map)
		}
	}
}

func TestProblemsAreFound(t *testing.T) {
	metrics, labelNames := []string{"busbar_time_seconds"}, []string{"backend", model.MetricNameLabel}
	for expr, want := range map[string]string{
		`busbar_time_seconds{backend=~"$backend"}`:      "",
		`busbar_times_seconds`:                          "metric busbar_times_seconds",
		`busbar_time_seconds{back="x"}`:                 "label back",
		`sum by (back) (busbar_time_seconds)`:           "label back",
		`busbar_time_seconds{backend=~"$bakend"}`:       "variable bakend",
		`max(busbar_time_seconds`:                       "unclosed",
		`1 + 1`:                                         "no metric",
		`rate(busbar_time_seconds[5m]) / other{x="$y"}`: "variable y metric other label x",
	} {
		got := strings.Join(problems(expr, metrics, labelNames, []string{"backend"}), " ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// TestDashboardHasGrafanasFields: a misspelled field of the dashboard, of a panel or of a query fails.
func TestDashboardHasGrafanasFields(t *testing.T) {
	_, text := read(t)
	for _, key := range []string{"schemaVersion", "gridPos", "fieldConfig", "legendFormat", "includeAll"} {
		changed := strings.Replace(text, `"`+key+`"`, `"`+key+`s"`, 1)
		if changed == text || !json.Valid([]byte(changed)) {
			t.Fatalf("%s is not in the dashboard", key)
		}
		if _, err := load([]byte(changed)); err == nil {
			t.Errorf("%ss is accepted", key)
		}
	}
}

// TestPanelsDoNotOverlap: ids are unique, and panels have places of their own within the 24 columns.
func TestPanelsDoNotOverlap(t *testing.T) {
	d, _ := read(t)
	ids, taken := map[uint32]bool{}, map[[2]uint32]string{}
	for _, p := range d.Panels {
		at, title := p.Panel.GridPos, *p.Panel.Title
		if ids[*p.Panel.Id] || at.X+at.W > 24 {
			t.Errorf("%s: id %d, columns %d to %d", title, *p.Panel.Id, at.X, at.X+at.W)
		}
		ids[*p.Panel.Id] = true
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other := taken[[2]uint32{x, y}]; other != "" {
					t.Fatalf("%s is above %s", title, other)
				}
				taken[[2]uint32{x, y}] = title
			}
		}
	}
}
