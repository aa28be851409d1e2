import json

{{convert}}
sums = {}
for i, row in enumerate(rows):
    month = row["date"][:7]
    sums[month] = sums.get(month, 0) + number(row["amount"], i + 1)
print("sums: " + json.dumps(sums))
