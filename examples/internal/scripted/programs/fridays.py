import datetime

n = sum(datetime.date(year, month, 13).weekday() == 4
        for year in range(2001, 2101) for month in range(1, 13))
print(n, "in this century")
n
