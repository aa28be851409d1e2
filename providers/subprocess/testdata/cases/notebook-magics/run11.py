lines = !printf 'a\nb'
list(lines), _7
