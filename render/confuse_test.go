package render

import "testing"

// SEC-23: what looks like another character is shown by its number.
func TestConfusable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"rm pаypal":       "rm p⟨U+0430⟩ypal", // Cyrillic а
		"сurl":            "⟨U+0441⟩url",
		"привет, мир":     "привет, мир",
		"сор":             "сор",
		"αβγ":             "αβγ",
		"git push οrigin": "git push ⟨U+03BF⟩rigin",
		"ａｂ":              "⟨U+FF41⟩⟨U+FF42⟩",
		"a；b":             "a⟨U+FF1B⟩b",
		"你好；再见（好）":        "你好；再见（好）",
		"a∕b":             "a⟨U+2215⟩b",
		"𝐫𝐦":              "⟨U+1D42B⟩⟨U+1D426⟩",
		"naïve Müller 日本": "naïve Müller 日本",
	} {
		got := Escape(in)
		if got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
		if back, err := Unescape(got); err != nil || back != in {
			t.Errorf("Unescape(%q) = %q, %v", got, back, err)
		}
	}
}
