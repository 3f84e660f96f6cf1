package main

func restrictFiles() {}
