package main

func reduce() {}
func update() {}
func explog() {}
