//go:build twin_last_decision_wins

package twin

// Is is the name of the twin.
const Is = "last_decision_wins"
