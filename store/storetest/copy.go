package storetest

import "testing"

var copies = map[string]func(*testing.T, Open){}
