"""Tests on the API server of operator-builder: `python3 -m unittest`."""

import unittest

from apiserver import ApiServer, ControlError

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


class ApiServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = ApiServer("--virtual-clock")
        cls.empty = cls.server.control("POST", "/snapshots")["id"]

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0

    def setUp(self):
        self.server.control("DELETE", "/faults")
        self.server.control("POST", f"/snapshots/{self.empty}/restore")
        self.server.control("DELETE", "/requests")

    def create(self, name):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        return self.server.request("POST", CONFIG_MAPS, body)

    def test_a_fault_fails_one_create(self):
        effect = {"type": "status", "code": 503}
        rule = {"match": {"resource": "configmaps"}, "effect": effect, "times": 1}
        fault = self.server.control("POST", "/faults", rule)
        with self.assertRaises(ControlError) as raised:
            self.create("a")
        self.assertEqual(raised.exception.code, 503)
        self.create("a")
        self.assertEqual(self.server.control("GET", f"/faults/{fault['id']}")["struck"], 1)

    def test_the_clock_moves_only_by_request(self):
        before = self.create("a")["metadata"]["creationTimestamp"]
        self.server.control("POST", "/clock/advance", {"ms": 60_000})
        after = self.create("b")["metadata"]["creationTimestamp"]
        self.assertEqual([before[17:19], after[17:19]], ["00", "00"])
        self.assertNotEqual(before, after)

    def test_the_log_counts_requests_and_gives_a_role(self):
        self.create("a")
        counts = self.server.control("GET", "/requests")["byVerbAndResource"]
        self.assertEqual(counts, {"create configmaps": 1})
        [role] = self.server.control("GET", "/roles?name=operator")["items"]
        self.assertEqual(role["rules"][0]["verbs"], ["create"])

    def test_a_refusal_has_a_reason(self):
        with self.assertRaises(ControlError) as raised:
            self.server.control("POST", "/clock/advance", {"ms": -1})
        self.assertEqual(raised.exception.reason, "InvalidOption")
        self.assertIn("want ms to be 0 to", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
