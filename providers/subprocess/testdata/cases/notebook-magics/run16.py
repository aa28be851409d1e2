%nosuch x
