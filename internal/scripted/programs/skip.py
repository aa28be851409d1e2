def number(text, row):
    try:
        return float(text)
    except ValueError:
        return 0.0
