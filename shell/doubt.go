package shell

import "strings"

// mayBeOption reports whether a program could take the word for an option.
func mayBeOption(w WordValue) bool {
	if w.Kind == Glob && strings.ContainsAny(w.Text[:min(1, len(w.Text))], "*?[+@!(") {
		return true // a file may be called -x
	}
	if w.Text != "" {
		return w.Text[0] == '-' && (w.Text != "-" || !w.Known()) || w.Kind == Fields
	}
	return w.Kind != Const && w.Kind != Glob
}

// certain reports whether it is clear which option a word is, if only its
// beginning is known: --format=$x.
func (u *usage) certain(w WordValue) bool {
	name, _, value := strings.Cut(w.Text, "=")
	return (w.Kind == Begins || w.Kind == Glob) && value && strings.HasPrefix(name, "--") && !strings.ContainsAny(name, `*?[\`)
}

// doubt takes a word that may be an option for an operand, if that makes no
// difference to what is harmless.
func (u *usage) doubt(w WordValue) {
	if w.Kind == Integer && (u.spec.is(numeric) || u.spec.is(readonly)) || u.spec.is(readonly) {
		u.operand(w)
		return
	}
	u.blame(Unknown, "MAY_BE_OPTION", w)
	u.strange = true
	u.operand(w)
}

func isBool(s string) bool {
	return s == "true" || s == "false" || s == "0" || s == "1" || s == "yes" || s == "no"
}

// noOption is for options that are not in the table. One that may take a value
// makes the next word doubtful, too, but nothing that is open cares.
func (u *usage) noOption(w WordValue, name string) {
	if u.spec.is(open) {
		u.unlisted = true
		return
	}
	u.strange = true
	u.add(Effect{Code: "UNKNOWN_OPTION", Detail: u.name + " " + name, Start: w.Start, End: w.End})
}
