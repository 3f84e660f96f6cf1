// Package watch is the inbox in a terminal: what waits, in full, decided with
// one key. Model holds what is shown and what keys do, without a terminal, a
// clock or a gateway; Run joins it to them. Where there is no terminal to draw
// on, Plain writes lines.
package watch
