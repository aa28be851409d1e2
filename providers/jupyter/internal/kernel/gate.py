# Programs come sealed: only a process that has this set-up opens them. To one that
# took the place of the kernel's between two runs, which the client need not have
# heard of, a sealed request is an empty one, whose reply says so.

import os


class Gate:
    """Opens what is sealed for this process."""

    SEALED = "toolcell"

    def __init__(self, session):
        self.token, self.plain = os.urandom(16).hex(), session.deserialize
        session.deserialize = self.deserialize  # before anything looks at the request

    def deserialize(self, *args, **kwargs):
        message = self.plain(*args, **kwargs)
        content = message.get("content")
        sealed = content.pop(self.SEALED, None) if isinstance(content, dict) else None
        if isinstance(sealed, dict) and sealed.get("token") == self.token:
            content.clear()
            content.update(sealed["request"])
        return message
