%timeit -n 10 -r 2 x + 1
