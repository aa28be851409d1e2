def number(text, row):
    if "," in text:
        text = text.replace(".", "").replace(",", ".")
    return float(text)
