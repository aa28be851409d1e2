# Calls of the host's functions. This follows pytools' source in one source.

waiting = {}  # number of a call -> the future that waits for its answer


def check_call(name):
    if occupied():
        raise ToolError(name, 'functions cannot be called here: another call of this thread is on its way')
    if not state.busy or is_left() or not state.running:
        raise ToolError(name, 'the run was interrupted' if state.busy and state.signaled else 'the run has ended')


def line_of(name, number):
    """Returns a line of a program's, or nothing."""
    lines = sources[name][2] if name in sources else ()
    return lines[number - 1] if 0 < number <= len(lines) else ''


def prepared(name, args, kwargs):
    """Returns the arguments of a call that may be made."""
    own_import('json')
    data = arguments(name, args, kwargs)
    flush()
    check_call(name)
    return data


def call(name, args, kwargs):
    answer = ask(b'Q', name, prepared(name, args, kwargs))
    if answer is None:
        raise ToolError(name, 'the run was interrupted')
    return outcome(name, answer[0] == b'ok', answer[1])


async def call_aio(name, args, kwargs):
    data = prepared(name, args, kwargs)
    if len(waiting) >= MAX_CALLS:
        raise ToolError(name, 'more than %d calls at once' % MAX_CALLS)
    state.calls += 1
    key = b'%d' % state.calls
    future = waiting[key] = modules['asyncio'].get_running_loop().create_future()
    try:
        ask(b'S', key, name, data)
        how, result = await future
    finally:
        waiting.pop(key, None)
    return outcome(name, how == b'ok', result)


def settle(answers):
    """Gives answers to those who wait: number, how, result and so on."""
    for key, how, result in zip(answers[::3], answers[1::3], answers[2::3]):
        future = waiting.pop(key, None)
        if future is not None and not future.done():
            future.set_result((how, result))
