package result

// fastRecord reads a line of kind case for the merged table, which takes a quarter of encoding/json's time: the times
// of all ranks and the network's counters are passed over. It returns false when the line is not as rank writes it, or
// holds what is rare; r is then in no defined state.
func fastRecord(line []byte, r *Record) bool { return (&cursor{b: line}).record(r) }

// fastWhole is fastRecord that passes over nothing.
func fastWhole(line []byte, r *Record) bool { return (&cursor{b: line, lists: true}).record(r) }

func (c *cursor) record(r *Record) bool {
	c.object(func(key string) {
		switch key {
		case "kind":
			c.text(&r.Kind)
		case "n":
			c.int(&r.N)
		case "at":
			c.text(&r.At)
		case "collective":
			c.word(&r.Collective)
		case "type":
			c.word(&r.Type)
		case "op":
			c.word(&r.Op)
		case "root":
			c.int(&r.Root)
		case "placement":
			c.word(&r.Placement)
		case "mode":
			c.word(&r.Mode)
		case "world":
			c.int(&r.World)
		case "size_bytes":
			c.int64(&r.SizeBytes)
		case "count":
			c.int64(&r.Count)
		case "cycle":
			c.int(&r.Cycle)
		case "status":
			c.text((*string)(&r.Status))
		case "reason":
			c.text(&r.Reason)
		case "cause":
			c.value(&r.Cause)
		case "needed_bytes":
			c.int64(&r.Needed)
		case "time":
			c.time(have(&r.Time))
		case "check":
			c.check(&r.Check)
		case "ranks":
			c.ranks(r)
		case "network":
			c.network(r)
		case "path":
			c.path(have(&r.Path))
		case "load1":
			c.float(&r.Load1)
		case "notes":
			c.texts(&r.Notes)
		case "warnings":
			c.texts(&r.Older)
		case "notices":
			c.value(&r.Warnings)
		default:
			c.odd = true
		}
	})
	return !c.odd && c.i == len(c.b)
}

// have is what p points to, made where it is nil.
func have[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

func (c *cursor) path(p *Path) {
	c.object(func(key string) {
		switch key {
		case "algorithm":
			c.text(&p.Algorithm)
		case "protocol":
			c.text(&p.Protocol)
		case "channels":
			c.int(&p.Channels)
		default: // channels_at_most, of old libraries
			c.odd = true
		}
	})
}

func (c *cursor) time(t *Time) {
	c.object(func(key string) {
		switch key {
		case "s":
			c.float(&t.Seconds)
		case "lo_s":
			c.float(&t.Lo)
		case "hi_s":
			c.float(&t.Hi)
		case "min_s":
			c.float(&t.Min)
		case "p90_s":
			c.float(&t.P90)
		case "p99_s":
			c.float(&t.P99)
		case "max_s":
			c.float(&t.Max)
		case "mean_s":
			c.float(&t.Mean)
		case "samples":
			c.int(&t.Samples)
		case "iterations":
			c.int(&t.Iterations)
		case "batch":
			c.int(&t.Batch)
		case "outliers":
			c.int(&t.Outliers)
		case "autocorrelation":
			c.float(&t.AutoCorr)
		case "stop":
			c.text(&t.Stop)
		case "sync":
			c.text(&t.Sync)
		case "summary":
			c.text(&t.Summary)
		case "elapsed_s":
			c.float(&t.Elapsed)
		case "event":
			c.event(have(&t.Event))
		default:
			c.odd = true
		}
	})
}

func (c *cursor) event(e *Event) {
	c.object(func(key string) {
		switch key {
		case "s":
			c.float(&e.Seconds)
		case "lo_s":
			c.float(&e.Lo)
		case "hi_s":
			c.float(&e.Hi)
		case "min_s":
			c.float(&e.Min)
		case "max_s":
			c.float(&e.Max)
		default:
			c.odd = true
		}
	})
}

func (c *cursor) check(k *Check) {
	c.object(func(key string) {
		switch key {
		case "result":
			c.text(&k.Result)
		case "rounds":
			c.int(&k.Rounds)
		case "elements":
			c.int64(&k.Elements)
		case "wrong":
			c.int64(&k.Wrong)
		case "way":
			c.text(&k.Way)
		case "s":
			c.float(&k.Seconds)
		default: // "first" is rare
			c.odd = true
		}
	})
}

func (c *cursor) ranks(r *Record) {
	if r.Ranks == nil {
		r.Ranks = &Ranks{}
	}
	k := r.Ranks
	c.object(func(key string) {
		switch key {
		case "slowest":
			c.int(&k.Slowest)
		case "slowest_host":
			c.text(&k.SlowestHost)
		case "slowest_s":
			c.float(&k.SlowestS)
		case "latest":
			c.int(&k.Latest)
		case "latest_host":
			c.text(&k.LatestHost)
		case "lateness_s":
			c.float(&k.Lateness)
		case "lateness_uncertainty_s":
			c.float(&k.Uncertainty)
		case "median_s":
			c.floats(&k.Median)
		case "late_s":
			c.floats(&k.Late)
		default: // worlds above MaxInlineRanks
			c.odd = true
		}
	})
}

// network reads the counters of ports where lists are wanted, and passes over them where they are not.
func (c *cursor) network(r *Record) {
	all := []NetUse{}
	c.list(func() {
		var u NetUse
		c.object(func(key string) {
			switch key {
			case "name":
				c.text(&u.Name)
			case "rx_bytes":
				c.int64(&u.RxBytes)
			case "tx_bytes":
				c.int64(&u.TxBytes)
			case "errors":
				c.int64(&u.Errors)
			case "retransmits":
				c.int64(&u.Retransmits)
			default:
				c.odd = true
			}
		})
		if c.lists {
			all = append(all, u)
		}
	})
	if c.lists {
		r.Network = all
	}
}
