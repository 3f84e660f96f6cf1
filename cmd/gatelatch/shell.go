package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/spf13/cobra"
)

func newShellCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shell",
		Short: "Look at what command lines would do",
		Args:  cobra.NoArgs,
		RunE:  helpOnly,
	}
	cmd.AddCommand(newShellCheckCmd())
	return cmd
}

func newShellCheckCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check FILE.jsonl",
		Short: "Score labelled command lines against the built-in rules",
		Long: `Read one JSON object a line, {"command": …, "class": "must-ask" or "should-allow"},
judge each command by the built-in rules, as in a project directory, and say how
many were allowed that must be asked about, and the other way round. Nothing is
run. "-" reads standard input.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			s, err := scoreShell(cmd.Context(), in)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if asJSON {
				return s.writeJSON(cmd.OutOrStdout())
			}
			s.write(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

const (
	mustAsk     = "must-ask"
	shouldAllow = "should-allow"
)

// A labelled is one row of a corpus.
type labelled struct {
	Command string   `json:"command"`
	Class   string   `json:"class"`
	Why     string   `json:"why,omitempty"`
	Tier    string   `json:"tier,omitempty"`
	Sources []string `json:"sources,omitempty"`
}

// A miss is a row that was judged wrongly, and the reasons.
type miss struct {
	labelled
	Reasons []string `json:"reasons,omitempty"`
}

// A tally counts rows of one class and those judged wrongly.
type tally struct{ rows, wrong int }

type shellScore struct {
	rules  *policy.Set
	all    map[string]*tally // by class
	tiers  map[string]*tally // by class and tier
	only   map[string]*tally // by class and source, of rows that have no other
	misses []miss
	times  []time.Duration
}

// Rows are judged by the built-in rules, in a project without a surprise in it:
// there is no such folder.
const checkProject = "/home/user/project"

func scoreShell(ctx context.Context, in io.Reader) (*shellScore, error) {
	s := &shellScore{rules: policy.Default(), all: map[string]*tally{mustAsk: {}, shouldAllow: {}}, tiers: map[string]*tally{}, only: map[string]*tally{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var row labelled
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if s.all[row.Class] == nil {
			return nil, fmt.Errorf("line %d: class %q is neither %s nor %s", n, row.Class, mustAsk, shouldAllow)
		}
		if err := s.add(ctx, row); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return s, lines.Err()
}

func (s *shellScore) add(ctx context.Context, row labelled) error {
	input, err := strictjson.Marshal(map[string]string{"command": row.Command})
	if err != nil {
		return err
	}
	call := &gatelatch.Call{Kind: gatelatch.Permission, Tool: "Bash", Input: input, Dir: checkProject}
	begin := time.Now()
	v := s.rules.Judge(ctx, call, &gatelatch.Session{Project: checkProject}, nil)
	s.times = append(s.times, time.Since(begin))
	wrong := (v.Effect == gatelatch.Allow) == (row.Class == mustAsk)
	s.all[row.Class].count(wrong)
	if row.Tier != "" {
		count(s.tiers, row.Class+", "+row.Tier, wrong)
	}
	if len(row.Sources) == 1 {
		count(s.only, row.Class+", "+row.Sources[0], wrong)
	}
	if wrong {
		s.misses = append(s.misses, miss{row, reasons(v)})
	}
	return nil
}

func (t *tally) count(wrong bool) {
	t.rows++
	if wrong {
		t.wrong++
	}
}

func count(in map[string]*tally, key string, wrong bool) {
	if in[key] == nil {
		in[key] = &tally{}
	}
	in[key].count(wrong)
}

func (t tally) rate() float64 { return 100 * float64(t.wrong) / float64(max(1, t.rows)) }

func reasons(v gatelatch.Verdict) []string {
	var out []string
	for _, r := range v.Reasons {
		if !slices.Contains(out, r.Message) && len(out) < 5 {
			out = append(out, r.Message)
		}
	}
	return out
}

// at returns the time that the share p of all commands stays below.
func (s *shellScore) at(p float64) time.Duration {
	if len(s.times) == 0 {
		return 0
	}
	sorted := slices.Clone(s.times)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

func line(w io.Writer, what string, t tally) {
	fmt.Fprintf(w, "%-42s %6d rows, %5d wrong, %6.2f %%\n", what, t.rows, t.wrong, t.rate())
}

func (s *shellScore) write(w io.Writer) {
	for _, m := range s.misses {
		verdict := "asked"
		if m.Class == mustAsk {
			verdict = "ALLOWED"
		}
		fmt.Fprintf(w, "%s %q\n", verdict, m.Command)
		for _, r := range m.Reasons {
			fmt.Fprintf(w, "    %s\n", r)
		}
	}
	for _, class := range []string{mustAsk, shouldAllow} {
		line(w, class, *s.all[class])
	}
	for _, key := range slices.Sorted(maps.Keys(s.tiers)) {
		line(w, "  "+key, *s.tiers[key])
	}
	// How much of the rate is one suite's: all rows but those that only it has.
	for _, key := range slices.Sorted(maps.Keys(s.only)) {
		class, source, _ := strings.Cut(key, ", ")
		all, left := s.all[class], s.only[key]
		line(w, "  "+class+", without "+source, tally{all.rows - left.rows, all.wrong - left.wrong})
	}
	fmt.Fprintf(w, "time a command: median %v, 99 %% below %v\n", s.at(0.5), s.at(0.99))
}

func (s *shellScore) writeJSON(w io.Writer) error {
	out := map[string]any{
		"must_ask":     map[string]int{"rows": s.all[mustAsk].rows, "allowed": s.all[mustAsk].wrong},
		"should_allow": map[string]int{"rows": s.all[shouldAllow].rows, "asked": s.all[shouldAllow].wrong},
		"median_us":    float64(s.at(0.5).Nanoseconds()) / 1000,
		"misses":       slices.Concat([]miss{}, s.misses),
	}
	data, err := strictjson.Marshal(out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}
