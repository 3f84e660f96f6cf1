//go:build twin_interrupt_ends_one

package twin

// Is is the name of the twin.
const Is = "interrupt_ends_one"
