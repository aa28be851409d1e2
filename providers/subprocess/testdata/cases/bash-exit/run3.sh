echo options $-
