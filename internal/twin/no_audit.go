//go:build twin_no_audit

package twin

// Is is the name of the twin.
const Is = "no_audit"
