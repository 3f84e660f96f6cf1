//go:build twin_memory_latch

package twin

// Is is the name of the twin.
const Is = "memory_latch"
