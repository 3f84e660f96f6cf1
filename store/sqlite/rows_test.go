package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every statement of the store that adds a row can share one with others.
func TestRowsOfEveryInsertAreGathered(t *testing.T) {
	insert := regexp.MustCompile("(?s)`(INSERT INTO [^`]*)`( \\+ row)?")
	seen := 0
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range insert.FindAllStringSubmatch(string(raw), -1) {
			text := m[1]
			if m[2] != "" {
				text += "(?,?)"
			}
			if rowsOf(text) == nil {
				t.Errorf("%s: %s stands alone", name, text)
			}
			seen++
		}
	}
	if seen < 10 {
		t.Errorf("found %d inserts", seen)
	}
	for _, text := range []string{
		`INSERT INTO a (k) SELECT ?`,
		`INSERT INTO a (k, v) VALUES (?, (SELECT 1))`,
		`INSERT INTO a (k) VALUES (?) ON CONFLICT DO UPDATE SET k=1`,
		`INSERT INTO a (k) VALUES (?),(1)`,
		`INSERT INTO a (k) VALUES (1)`,
		`UPDATE a SET k=?`,
	} {
		if rowsOf(text) != nil {
			t.Errorf("%s is gathered", text)
		}
	}
}

func scratch(t *testing.T) *connection {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(filepath.Join(t.TempDir(), "s.db")))
	if err != nil {
		t.Fatal(err)
	}
	c, err := connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(c.close(), db.Close()) })
	if err := errors.Join(c.do(`CREATE TABLE a (k INTEGER PRIMARY KEY, v TEXT)`), c.do(`CREATE TABLE b (k INTEGER PRIMARY KEY, v TEXT)`)); err != nil {
		t.Fatal(err)
	}
	return c
}

func dump(t *testing.T, c *connection) (out string) {
	t.Helper()
	rows, err := c.conn.QueryContext(context.Background(), `SELECT 'a', k, v FROM a UNION ALL SELECT 'b', k, v FROM b ORDER BY 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var table, v string
		var k int64
		if err := rows.Scan(&table, &k, &v); err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintln(table, k, v)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// Gathered or one by one: the tables end the same.
func TestGatheredStatementsDoTheSame(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		one, many := scratch(t), scratch(t)
		ran := 0
		g := gathering{run: func(st statement) error { ran++; return many.promised(st) }, kinds: map[string]*rows{}}
		const n = 300
		for i := range n {
			st := anyStatement(rng, i)
			if err := errors.Join(one.promised(st), g.add(st)); err != nil {
				t.Fatal(seed, i, st.text, err)
			}
		}
		if err := g.flush(); err != nil {
			t.Fatal(seed, err)
		}
		if dump(t, one) != dump(t, many) {
			t.Fatalf("seed %d: one by one\n%s\ngathered\n%s", seed, dump(t, one), dump(t, many))
		}
		if ran > n/2 {
			t.Errorf("seed %d: %d statements for %d", seed, ran, n)
		}
	}
}

func anyStatement(rng *rand.Rand, i int) statement {
	v, old := fmt.Sprint("v", i), int64(rng.IntN(i+1))
	switch rng.IntN(30) {
	case 0:
		return statement{text: `UPDATE a SET v=? WHERE k=?`, args: []any{v, old}, maybe: true}
	case 1:
		return statement{text: `DELETE FROM b WHERE k>?`, args: []any{old}, maybe: true}
	case 2, 3, 4, 5, 6, 7:
		return statement{text: `INSERT INTO b (k, v) VALUES (?,?) ON CONFLICT DO NOTHING`, args: []any{old, v}, maybe: true}
	case 8, 9, 10:
		return statement{text: `INSERT INTO a (k, v) VALUES (?,?),(?,?)`, args: []any{int64(2 * i), v, int64(2*i + 1), v}}
	}
	return statement{text: `INSERT INTO a (k, v) VALUES (?,?)`, args: []any{int64(2 * i), v}}
}

// A row that does not go in is noticed among others, and nothing stays behind
// for who begins again.
func TestAMissingRowAmongOthersIsDamage(t *testing.T) {
	c := scratch(t)
	kinds := map[string]*rows{}
	add := func(keys ...int64) (err error) {
		g := gathering{run: c.promised, kinds: kinds}
		for _, k := range keys {
			err = errors.Join(err, g.add(statement{text: `INSERT INTO a (k, v) VALUES (?,?) ON CONFLICT DO NOTHING`, args: []any{k, "v"}}))
		}
		return errors.Join(err, g.flush())
	}
	if err := add(1, 2, 3); err != nil {
		t.Fatal(err)
	}
	if err := add(4, 5, 2, 6, 7, 8, 9, 10); !errors.Is(err, errDisagree) {
		t.Error(err)
	}
	if err := add(20); err != nil || dump(t, c) == "" {
		t.Error(err)
	}
}
