"""Starts the API server of operator-builder for a test, and controls it. Needs only the standard library."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request


class ControlError(Exception):
    """A refusal of the control API; `reason` and `code` are those of its Status."""

    def __init__(self, status):
        super().__init__(status.get("message", ""))
        self.reason = status.get("reason", "")
        self.code = status.get("code", 0)


class ApiServer:
    """A running API server: `with ApiServer("--workloads") as server: ...`.

    The options are those of `operator-builder apiserver`. The environment variable OPERATOR_BUILDER is the
    program; its default is `npx operator-builder`.
    """

    def __init__(self, *options):
        program = shlex.split(os.environ.get("OPERATOR_BUILDER", "npx operator-builder"))
        self._folder = tempfile.mkdtemp(prefix="apiserver-")
        self.kubeconfig = os.path.join(self._folder, "kubeconfig")
        self._process = subprocess.Popen(
            [*program, "apiserver", "--output", "json", "--kubeconfig", self.kubeconfig, *options],
            stdout=subprocess.PIPE,
            # npx starts the server as a child: the signal of stop() must reach the whole group.
            start_new_session=True,
        )
        line = self._process.stdout.readline()
        if not line:
            self.stop()
            raise RuntimeError("the API server did not start; its standard error has the reason")
        ready = json.loads(line)
        self.url = ready["url"]
        self._control = ready["control"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the server, and returns its exit code."""
        try:
            os.killpg(self._process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        code = self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return code

    def control(self, method, path, body=None):
        """Sends a request to the control API: `control("POST", "/faults", rule)`. Raises ControlError."""
        headers = {"Authorization": "Bearer " + self._control["token"]}
        return _send(method, self._control["url"] + path, body, headers)

    def request(self, method, path, body=None):
        """Sends a request to the Kubernetes API. Raises ControlError with its Status."""
        return _send(method, self.url + path, body, {})


def _send(method, url, body, headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {**headers, "Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            raise ControlError(json.load(error)) from None
