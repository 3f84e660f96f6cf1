package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch/internal/canary"
)

func TestNoCanarySurvives(t *testing.T) {
	all := canary.All()
	if len(all) < 100 {
		t.Fatalf("%d kinds", len(all))
	}
	for round := range 5 {
		for _, c := range canary.All() {
			quoted, err := json.Marshal(map[string]any{"command": "echo hi\n" + c.Text, "n": []any{c.Text}})
			if err != nil {
				t.Fatal(err)
			}
			for how, text := range map[string]string{
				"alone": c.Text, "in a line": "run: " + c.Text + " ; done", "in quotes": "echo '" + c.Text + "'", "on lines": "a\n" + c.Text + "\nb", "in JSON as text": string(quoted),
			} {
				if got := Text(text); strings.Contains(got, c.Needle) {
					t.Errorf("round %d: %s %s survives: %s", round, c.Kind, how, got)
				} else if again := Text(got); again != got {
					t.Errorf("%s %s: masked twice:\n%s\n%s", c.Kind, how, got, again)
				}
			}
			got := JSON(quoted)
			if bytes.Contains(got, []byte(c.Needle)) || !json.Valid(got) {
				t.Errorf("%s survives in JSON: %s", c.Kind, got)
			}
		}
	}
}

func TestWhatIsMasked(t *testing.T) {
	Use([]byte("a key"))
	m := Mask
	for in, want := range map[string]string{
		"git push origin main":                                  "git push origin main",
		"psql postgres://app:hunter2@db/x":                      "psql postgres://app:" + m("hunter2") + "@db/x",
		"PASSWORD=$PASS ./run":                                  "PASSWORD=$PASS ./run",
		"--token-file /run/token":                               "--token-file /run/token",
		"max_tokens=4096 model=x":                               "max_tokens=4096 model=x",
		"git checkout 3f2a9c1d5e6b7a8c9d0e1f2a3b4c5d6e7f8a9b0c": "git checkout 3f2a9c1d5e6b7a8c9d0e1f2a3b4c5d6e7f8a9b0c",
		"sha256sum: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": "sha256sum: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		`token := parser.Next()`:                    `token := parser.Next()`,
		"curl -u me:s3cret https://x":               "curl -u me:" + m("s3cret") + " https://x",
		"docker run -u 1000:1000 -p 8080:80 img":    "docker run -u 1000:1000 -p 8080:80 img",
		"ssh-add ~/.ssh/id_ed25519":                 "ssh-add ~/.ssh/id_ed25519",
		"kubectl get secret db-credentials -o yaml": "kubectl get secret db-credentials -o yaml",
		"secretName: db-password":                   "secretName: db-password",
		"Authorization: Bearer abcd1234efgh5678":    "Authorization: Bearer " + m("abcd1234efgh5678"),
	} {
		if got := Text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestEqualSecretsHaveEqualMasks(t *testing.T) {
	Use([]byte("one"))
	a, b := Mask("x"), Mask("x")
	Use([]byte("two"))
	if c := Mask("x"); a != b || a == c || len(a) != maskLen {
		t.Errorf("%s %s %s", a, b, c)
	}
	s := Secret("hunter2")
	raw, err := json.Marshal(s)
	if all := fmt.Sprintf("%s %v %+v %#v %q", s, s, s, s, s) + string(raw); err != nil || strings.Contains(all, "hunter2") {
		t.Error(all, err)
	}
}

func TestLog(t *testing.T) {
	for _, c := range canary.All() {
		var out bytes.Buffer
		log := slog.New(Handler(slog.NewTextHandler(&out, nil))).With("w", c.Text)
		log.WithGroup("g").Info("said "+c.Text, "err", errors.New("no: "+c.Text), "b", []byte(c.Text), "s", struct{ A string }{c.Text}, slog.Group("h", "t", c.Text))
		if strings.Contains(out.String(), c.Needle) || !strings.Contains(out.String(), "said") {
			t.Errorf("%s is in the log: %s", c.Kind, out.String())
		}
	}
}

func TestJSONKeepsTheRest(t *testing.T) {
	for in, want := range map[string]string{
		`{"a" : 1.50, "b":"<&>\u00e9"}`:                    `{"a" : 1.50, "b":"<&>\u00e9"}`,
		`{"password":"a\"b","x":"<ok>"}`:                   `{"password":"` + Mask(`a"b`) + `","x":"<ok>"}`,
		`{"password":{"x":"name"},"y":["z"]}`:              `{"password":{"x":"name"},"y":["z"]}`,
		`{"command":"curl -u a:bcdefg x","tokens":123456}`: `{"command":"curl -u a:` + Mask("bcdefg") + ` x","tokens":123456}`,
		`{"pin_secret":12345678}`:                          `{"pin_secret":"` + Mask("12345678") + `"}`,
	} {
		if got := string(JSON([]byte(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Texts of the project's own tests are ordinary commands and messages. Few of
// them may be masked, and those that are should hold a secret.
func TestOrdinaryTextStaysReadable(t *testing.T) {
	var all, hit int
	var seen []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "redact" || d.Name() == "canary"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, " ") {
				if all++; Text(s) != s {
					hit++
					seen = append(seen, fmt.Sprintf("%s: %.300s", filepath.Base(path), Text(s)))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d texts (%.2f %%) have something masked:\n%s", hit, all, 100*float64(hit)/float64(all), strings.Join(seen, "\n"))
	if all < 3000 || hit*200 > all {
		t.Errorf("%d of %d texts are masked, more than one in 200", hit, all)
	}
}

// Text that looks like the beginning of a secret over and over costs no more
// for each byte than a short one.
func TestHostileTextIsQuick(t *testing.T) {
	for _, piece := range []string{"key=", "eyJ-", "eyJ.", "pypi-", "cookie:$", "authorization:a $", "curl -u ", "secret ", "://", "a-", "pass=$", `pw="$`, "-----BEGIN PRIVATE KEY", "a@", "token:a,", "1-", "[secret:", "--password ", "%41", `\"key\":\"`} {
		text := strings.Repeat(piece, 1<<18/len(piece))
		begin := time.Now()
		Text(text)
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%q: %v for a quarter of a megabyte", piece, took)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, c := range canary.All() {
		f.Add(c.Text)
	}
	f.Add(`password=a\`)
	f.Add("https://[secret:00000000]:x@h")
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if again := Text(once); again != once {
			t.Errorf("not the same when masked again:\n%q\n%q\n%q", s, once, again)
		}
		c := canary.All()[len(s)%100]
		if got := Text(s + "\n" + c.Text); strings.Contains(got, c.Needle) && !strings.Contains(s, "-----BEGIN") {
			t.Errorf("%s survives behind %q: %q", c.Kind, s, got)
		}
		if raw := JSON([]byte(s)); json.Valid([]byte(s)) && !json.Valid(raw) {
			t.Errorf("%q is no longer JSON: %q", s, raw)
		}
	})
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("cd services/api && go test ./... -run TestX -count=1 | tee out.log; ", 16)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}

// A shell joins what quotes divide, and so does who reads the command.
func TestSecretsDividedByQuotes(t *testing.T) {
	const secret = "AKIAQ7W3ZP5MK2LD8RTX"
	for _, text := range []string{
		`aws configure "AK""IAQ7W3ZP5MK2LD8RTX" x`, `AK'IA'Q7W3ZP5MK2LD8RTX`, `A"K"'I'"A"Q7W3ZP5MK2LD8RTX`, `AKIAQ7W3''ZP5MK2""LD8RTX`,
		`export T=gh"p_"'0Vmj0435VWtD7rSJYZLNvcJChAfgSYD5J0Pe' && run`,
	} {
		got := Text(text)
		bare := strings.NewReplacer(`"`, "", `'`, "").Replace(got)
		if strings.Contains(bare, secret) || strings.Contains(bare, "VWtD7rSJYZLN") || strings.Contains(bare, "Q7W3ZP5MK2") {
			t.Errorf("%s became %s", text, got)
		}
		for _, kept := range []string{"aws configure", "&& run"} {
			if strings.Contains(text, kept) && !strings.Contains(got, kept) {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
	for _, text := range []string{`echo "it's"'fine'`, `{"a":"b","c":"d"}`, `git commit -m 'don''t'`, `x="a" y='b'`} {
		if got := Text(text); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}
