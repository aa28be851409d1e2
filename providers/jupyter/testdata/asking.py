"""A kernel that asks for input whatever it was told of allow_stdin."""
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class AskingKernel(Kernel):
    implementation = "asking"
    implementation_version = "1"
    language_info = {"name": "asking", "mimetype": "text/plain", "file_extension": ".ask"}
    banner = "asks"

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        if code.strip() == "ask":
            try:
                answer = self._input_request("who? ", self._parent_ident["shell"], self.get_parent("shell"))
            except KeyboardInterrupt:
                return {"status": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": [],
                        "execution_count": self.execution_count}
            if not silent:
                self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": answer + "\n"})
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}


IPKernelApp.launch_instance(kernel_class=AskingKernel)
