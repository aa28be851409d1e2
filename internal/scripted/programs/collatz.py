import itertools

checked = 0
for n in itertools.count(1):
    m = n
    while m >= n and m != 1:
        m = 3 * m + 1 if m % 2 else m // 2
    checked = n
    if n % 10000 == 0:
        print(f"none up to {n}", flush=True)
