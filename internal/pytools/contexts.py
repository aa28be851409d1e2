# Threads and the work of pools belong to the run that started them, as tasks do: they
# run in a copy of its context variables.

import contextvars, threading


def carry_contexts():
    """Makes threads and ThreadPoolExecutor.submit copy the context variables."""
    start = threading.Thread.start

    def start_in_context(self):
        context, run = contextvars.copy_context(), self.run
        self.run = lambda: context.run(run)
        start(self)

    threading.Thread.start = start_in_context
    from concurrent.futures import ThreadPoolExecutor

    submit = ThreadPoolExecutor.submit

    def submit_in_context(self, fn, /, *args, **kwargs):
        return submit(self, contextvars.copy_context().run, fn, *args, **kwargs)

    ThreadPoolExecutor.submit = submit_in_context
