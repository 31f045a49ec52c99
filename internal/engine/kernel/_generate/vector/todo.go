package main

func reduce() {}
func explog() {}
