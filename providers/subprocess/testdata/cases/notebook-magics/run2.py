%time x + 1
