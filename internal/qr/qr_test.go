package qr

import (
	"strings"
	"testing"
)

// The three corners have the finder patterns, and the code has a margin.
func TestRowsHaveFindersAndAMargin(t *testing.T) {
	rows, err := Rows("https://gate.example/login#c=glc_0123456789abcdefghijklmnop")
	if err != nil {
		t.Fatal(err)
	}
	n := len(rows)
	if (n-8-17)%4 != 0 {
		t.Fatalf("%d rows are no QR code", n)
	}
	for _, row := range rows {
		if len(row) != n || !strings.HasPrefix(row, "....") || !strings.HasSuffix(row, "....") {
			t.Fatalf("row %q", row)
		}
	}
	finder := []string{"#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"}
	for i, want := range finder {
		for name, got := range map[string]string{
			"top left": rows[4+i][4:11], "top right": rows[4+i][n-11 : n-4], "bottom left": rows[n-11+i][4:11],
		} {
			if got != want {
				t.Errorf("%s, row %d: %s, want %s", name, i, got, want)
			}
		}
	}
}

// Reading the drawing back gives the rows.
func TestTerminalDrawsEverySquare(t *testing.T) {
	rows, err := Rows("x")
	if err != nil {
		t.Fatal(err)
	}
	var back []string
	for _, line := range strings.Split(strings.TrimSuffix(Terminal(rows), "\n"), "\n") {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[97;40m"), "\x1b[0m")
		back = append(back,
			strings.NewReplacer("█", ".", "▀", ".", "▄", "#", " ", "#").Replace(line),
			strings.NewReplacer("█", ".", "▀", "#", "▄", ".", " ", "#").Replace(line))
	}
	if got := back[:len(rows)]; strings.Join(got, "\n") != strings.Join(rows, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(rows, "\n"))
	}
}
