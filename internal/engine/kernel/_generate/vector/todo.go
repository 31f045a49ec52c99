package main

func pool()   {}
func reduce() {}
func update() {}
func explog() {}
