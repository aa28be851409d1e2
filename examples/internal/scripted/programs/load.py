import time

rows = []
for line in {{sales}}.split("\n"):
    date, region, amount = line.split(";")
    rows.append({"date": date, "region": region, "amount": amount})
    print(f"row {len(rows)}: {date}", flush=True)
    time.sleep(0.01)
f"{len(rows)} rows"
