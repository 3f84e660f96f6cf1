// Package sim holds a simulation, as a test: gateways over one store, agents
// and people, in virtual time, with crashes, lost answers and a clock that
// jumps. One seed drives it all; -seed plays it again.
package sim
