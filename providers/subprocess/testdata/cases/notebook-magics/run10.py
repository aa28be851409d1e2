for i in range(2):
    !echo $i {i + x}
