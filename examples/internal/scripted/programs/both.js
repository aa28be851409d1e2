function number(text) {
  if (text.includes(",")) text = text.replaceAll(".", "").replace(",", ".");
  return Number(text);
}
