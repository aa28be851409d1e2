def number(text, row):
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"row {row} is not a number: '{text}'") from None
