# What an exchange with the host takes where others are going on, and interrupts.

def occupied():
    """Tells whether this thread is in the midst of an exchange, of which a
    finalizer, or a trace function, can see any point."""
    ident = get_ident()
    return state.mode != FREE if ident == state.thread else ident in inside


def send_soon(kind, *fields):
    """Sends a frame together with the next one, which is about to come."""
    data = frame_of(kind, fields)
    if len(data) > MAX_KEPT:
        return send(kind, *fields)
    with hold, sending:
        state.kept += data


class Woken(BaseException):
    """An interrupt that came during a soft wait, or the end of a handler."""


def softly(wait):
    """Waits, and returns whether that came to its end."""
    try:
        state.mode = SOFT
        if pending_signals:
            catch_up()
        if not state.owed:
            wait()
            state.mode = HELD
            return True
        state.mode = HELD
    except Woken:
        pass
    except BaseException:
        state.mode = HELD
        raise
    return False


def poller():
    """Returns what waits until the channel has something to read."""
    if state.poll is None:
        state.poll = new_poller()
    return state.poll


def new_poller():
    import select
    channel = select.poll()
    channel.register(CONTROL, select.POLLIN)
    return channel.poll


def announce(kind, fields):
    """Notes that the host interrupts the run in progress, or that it has sent
    the signal: if that came too early to be seen, it comes again."""
    if kind == b'I':
        state.announced = state.busy and fields[0].decode() == state.seq
    elif state.announced:
        state.announced = False
        state.confirmed += 1
        # These frames may be read long after the signal: it is the run's signals
        # that count, not those since the announcement.
        if state.interrupts < state.confirmed:
            if not state.running:
                state.confirmed -= 1
            interrupt_main()


def look_for_interrupt():
    """Sees to it that the program is interrupted if the host wanted that before
    it began: the signal may have come too early to be seen, or to the program's
    own handler."""
    global reading
    if not state.signaled and getsignal(SIGINT) is on_interrupt:
        return
    state.signaled = False
    ready = poller()
    with gate:
        if reading:
            return  # whoever reads sees to it
        reading = state.thread
    while state.announced or ready(0):
        receive_all()
    stop_reading()


def between_runs():
    """Lets asyncio's tasks go on until the host has something to say. What ends the
    loop before that, as an exit in a task and loop.stop do, ends no other task."""
    loop, ready = state.loop, None
    while has_tasks():
        try:
            loop.add_reader(CONTROL, loop.stop)
            try:
                state.running = True
                loop.run_forever()
            finally:
                state.running = False
                loop.remove_reader(CONTROL)
        except BaseException as e:
            if not tell_between(e):
                return  # the program has broken the loop
        ready = ready or poller()
        if ready(0):
            return


def exchange(*fields, then=None):
    """Sends a show of the run in progress, waits until the host has put it
    in its place, and calls then. Outside of a run, in threads of earlier ones and in forked
    processes nobody waits."""
    if occupied():
        raise RuntimeError('nothing can be shown here: this thread is in the midst of a call, or of another display')
    with hold:
        late = is_late()
        if late or not state.busy or getpid() != pid:
            send(b'D', '' if late else state.seq, 0, *fields)
            return
        with gate:
            state.shows += 1
            n = str(state.shows).encode()
        entry = expect(b'A' + n)
        send(b'D', state.seq, n, *fields)
        obtain(entry)
        if then:
            then()
