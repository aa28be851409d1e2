# Threads and the work of pools belong to the run that started them, as tasks do: they
# run in a copy of its context variables.


def carry_contexts():
    """Makes threads and the work of thread pools copy the context variables."""
    import threading
    import concurrent.futures.thread
    carry(threading)
    carry(concurrent.futures.thread)


def carry(module):
    """Does that for one of the two modules, which has been loaded."""
    from _contextvars import copy_context
    if module.__name__ == 'threading':
        start = module.Thread.start

        def start_in_context(self):
            context, run = copy_context(), self.run
            self.run = lambda: context.run(run)
            start(self)

        module.Thread.start = start_in_context
        return
    submit = module.ThreadPoolExecutor.submit

    def submit_in_context(self, fn, /, *args, **kwargs):
        return submit(self, copy_context().run, fn, *args, **kwargs)

    module.ThreadPoolExecutor.submit = submit_in_context
