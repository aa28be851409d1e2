%%time
y = x * 2
y
