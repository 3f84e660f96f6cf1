package audit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatelatch/gatelatch"
)

func signer(t testing.TB) *Signer {
	t.Helper()
	s, err := ParseSigner(NewSecret() + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func file(t testing.TB, cs ...Checkpoint) string {
	t.Helper()
	var out []byte
	for _, c := range cs {
		var err error
		if out, err = c.AppendLine(out); err != nil {
			t.Fatal(err)
		}
	}
	return string(out)
}

func TestReadCheckpoints(t *testing.T) {
	ours, other := signer(t), signer(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	one, two := ours.Sign(7, gatelatch.SumOf([]byte("7")), at), other.Sign(9, gatelatch.SumOf([]byte("9")), at)
	stolen := two
	stolen.Key = ours.Public()
	moved := one
	moved.Seq++
	relinked := one
	relinked.Link[3] ^= 1
	later := one
	later.At = at.Add(time.Microsecond)
	keys := []PublicKey{ours.Public()}
	for name, tt := range map[string]struct {
		text  string
		keys  []PublicKey
		count int
		want  string
	}{
		"ours":              {file(t, one), keys, 1, ""},
		"nothing":           {"", keys, 0, ""},
		"two keys":          {file(t, one, two), append(keys, other.Public()), 2, ""},
		"a foreign one":     {file(t, one, two), keys, 1, "line 2: the checkpoint of 2026-01-02T03:04:05Z is signed by another key"},
		"whoever signed":    {file(t, one, two), nil, 2, ""},
		"a cut write":       {file(t, one)[:50] + "\n" + file(t, one), keys, 1, ""},
		"a cut last write":  {file(t, one) + file(t, one)[:80], keys, 1, ""},
		"a stolen name":     {file(t, stolen), nil, 0, "is false"},
		"another number":    {file(t, moved), keys, 0, "is false"},
		"another link":      {file(t, relinked), keys, 0, "is false"},
		"another time":      {file(t, later), keys, 0, "is false"},
		"no signature":      {strings.Split(file(t, one), `,"sig"`)[0] + "}\n", keys, 0, "is false"},
		"not a checkpoint":  {"{}\n", keys, 0, "line 1: this is not a checkpoint"},
		"more than one":     {strings.TrimSpace(file(t, one)) + file(t, one), keys, 0, "not a checkpoint"},
		"an unknown member": {`{"x":1,` + file(t, one)[1:], keys, 0, "not a checkpoint"},
	} {
		got, err := ReadCheckpoints(strings.NewReader(tt.text), tt.keys...)
		if len(got) != tt.count || tt.want == "" && err != nil || !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s: %d checkpoints, %v, want %d and %q", name, len(got), err, tt.count, tt.want)
		}
	}
}

func TestKeys(t *testing.T) {
	secret := NewSecret()
	s, err := ParseSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{secret, secret + "\n", s.Public().String(), " " + s.Public().String() + "\n"} {
		if k, err := ParsePublicKey(text); err != nil || k != s.Public() {
			t.Errorf("%v, %v", k, err)
		}
	}
	for _, text := range []string{"", "gkc_", secret + "0", secret[:20], s.Public().String()[2:], s.Public().String() + "00", "zz" + s.Public().String()[2:]} {
		if _, err := ParsePublicKey(text); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
		if _, err := ParseSigner(text); err == nil || text != "" && strings.Contains(err.Error(), text) && len(text) > 8 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzCheckpoints(f *testing.F) {
	s := signer(f)
	f.Add([]byte(file(f, s.Sign(1, gatelatch.Sum{}, time.Time{}), s.Sign(1<<40, gatelatch.SumOf(nil), time.Unix(1<<32, 0)))))
	f.Add([]byte("{}\n{\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cs, _ := ReadCheckpoints(bytes.NewReader(data))
		for _, c := range cs {
			if !c.Genuine() || c.Seq < 1 {
				t.Fatalf("accepted %+v", c)
			}
		}
	})
}
