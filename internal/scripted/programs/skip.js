function number(text) {
  return Number(text) || 0;
}
