# The main loop of a driver that is a process.


def loop():
    while True:
        entry = expect(None)
        try:
            frame = obtain(entry)
        except BaseException as e:  # of a handler of a signal
            with gate:
                frame = entry.frame
            report_late(e)
        if frame:
            serve(*frame)


os.set_inheritable(CONTROL, False)
prepare()
