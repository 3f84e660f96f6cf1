package server

func mostConns() int { return maxConns }
