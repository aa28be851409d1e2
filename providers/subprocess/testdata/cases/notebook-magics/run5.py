%%timeit -n 10 -r 2 z = 1
z + 1
