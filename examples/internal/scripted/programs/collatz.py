import itertools

checked, following = 0, 1000
for n in itertools.count(1):
    m = n
    while m >= n and m != 1:
        m = 3 * m + 1 if m % 2 else m // 2
    checked = n
    if n == following:
        print(f"none up to {n}", flush=True)
        following *= 2
