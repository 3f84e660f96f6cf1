package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// lookalikes are letters that look like ASCII ones, from Unicode's list of
	// confusables (UTS 39). They mislead among ASCII letters.
	lookalikes = "аесорхуіјѕһԁԛԝгьАВСЕНІЈКМОРЅТХҮԌԜѡѵ" + // Cyrillic
		"οαινρυκτχωγΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳ" + // Greek
		"օոսցհզյնքֆԼՍՏ" + // Armenian
		"ıȷɑɡɩʋᴏᴄᴠᴡᴢᴜℓℯⅠⅤⅩⅬⅭⅮⅯⅰⅴⅹⅼⅽⅾⅿ" +
		"ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ" // Cherokee

	// signs look like those that separate words, paths and commands.
	signs = "\u037E\u0589\u05C0\u05C3\u01C3\u02D0\u2010\u2011\u2012\u2024\u2032\u2035\u2044\u2052" +
		"\u2215\u2216\u2217\u2223\u2236\u223C\u29F5\u29F8\u29F9\uA789\uFE68"

	// wide signs are usual in Chinese and Japanese, but not among ASCII.
	wide = "！＂＃＄％＆＇（）＊＋－．／：；＜＝＞？＠［＼］＾＿｀｛｜｝～"

	// maxWord is how far from a letter others of its word are looked for.
	maxWord = 64
)

// confusing reports whether r can be taken for another character where it
// stands.
func confusing(r rune, before, after string) bool {
	switch {
	case r < 0x80:
		return false
	case r >= 0x1D400 && r <= 0x1D7FF, r >= '０' && r <= '９', r >= 'Ａ' && r <= 'Ｚ', r >= 'ａ' && r <= 'ｚ', strings.ContainsRune(signs, r):
		return true
	case strings.ContainsRune(wide, r):
		return before != "" && before[len(before)-1] < 0x80 && after != "" && after[0] < 0x80
	case strings.ContainsRune(lookalikes, r):
		return amongASCII(before, after)
	}
	return false
}

// amongASCII reports whether the word around a letter has an ASCII letter.
func amongASCII(before, after string) bool {
	for range maxWord {
		r, size := utf8.DecodeLastRuneInString(before)
		if ascii(r) {
			return true
		}
		if !ofWord(r) {
			break
		}
		before = before[:len(before)-size]
	}
	for range maxWord {
		r, size := utf8.DecodeRuneInString(after)
		if ascii(r) {
			return true
		}
		if !ofWord(r) {
			break
		}
		after = after[size:]
	}
	return false
}

func ascii(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func ofWord(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }
