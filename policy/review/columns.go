package review

import "unicode"

// wide are the characters that take two columns of a terminal: East Asian
// scripts, full forms, and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115F, Stride: 1}, {Lo: 0x231A, Hi: 0x231B, Stride: 1}, {Lo: 0x23E9, Hi: 0x23EC, Stride: 1},
		{Lo: 0x25FD, Hi: 0x25FE, Stride: 1}, {Lo: 0x2614, Hi: 0x2615, Stride: 1}, {Lo: 0x2648, Hi: 0x2653, Stride: 1},
		{Lo: 0x26AA, Hi: 0x26AB, Stride: 1}, {Lo: 0x26BD, Hi: 0x26BE, Stride: 1}, {Lo: 0x2705, Hi: 0x2705, Stride: 1},
		{Lo: 0x2753, Hi: 0x2755, Stride: 1}, {Lo: 0x2E80, Hi: 0x303E, Stride: 1}, {Lo: 0x3041, Hi: 0xA4CF, Stride: 1},
		{Lo: 0xA960, Hi: 0xA97C, Stride: 1}, {Lo: 0xAC00, Hi: 0xD7A3, Stride: 1}, {Lo: 0xF900, Hi: 0xFAFF, Stride: 1},
		{Lo: 0xFE30, Hi: 0xFE6F, Stride: 1}, {Lo: 0xFF01, Hi: 0xFF60, Stride: 1}, {Lo: 0xFFE0, Hi: 0xFFE6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16FE0, Hi: 0x18CFF, Stride: 1}, {Lo: 0x1B000, Hi: 0x1B2FF, Stride: 1}, {Lo: 0x1F18E, Hi: 0x1F18E, Stride: 1},
		{Lo: 0x1F191, Hi: 0x1F19A, Stride: 1}, {Lo: 0x1F200, Hi: 0x1F320, Stride: 1}, {Lo: 0x1F32D, Hi: 0x1F64F, Stride: 1},
		{Lo: 0x1F680, Hi: 0x1F6FF, Stride: 1}, {Lo: 0x1F7E0, Hi: 0x1F7EB, Stride: 1}, {Lo: 0x1F90C, Hi: 0x1FAFF, Stride: 1},
		{Lo: 0x20000, Hi: 0x3FFFD, Stride: 1},
	},
}

// columns returns how many columns a character takes on a terminal.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.M, r):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}
