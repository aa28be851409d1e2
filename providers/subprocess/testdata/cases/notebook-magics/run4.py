%timeit -n2 -r2 2 + x
