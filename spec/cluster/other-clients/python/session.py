"""Applies, patches and watches a ConfigMap: session.py KUBECONFIG NAMESPACE. Prints what the server answered."""

import json
import sys

from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

kubeconfig, namespace = sys.argv[1:]
config.load_kube_config(kubeconfig)
api = client.CoreV1Api()


def shown(answer):
    managers = sorted(
        f"{entry.manager} {entry.operation} {json.dumps(entry.fields_v1, sort_keys=True)}"
        for entry in answer.metadata.managed_fields or []
    )
    return {"data": answer.data, "labels": answer.metadata.labels, "managers": managers}


def apply(data, manager, force=False):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"}, "data": data}
    return api.patch_namespaced_config_map(
        "shop",
        namespace,
        body,
        field_manager=manager,
        force=force,
        _content_type="application/apply-patch+yaml",
    )


def refused(call):
    try:
        call()
    except ApiException as error:
        status = json.loads(error.body)
        return {key: status.get(key) for key in ("code", "reason", "message")}
    return None


api.create_namespace({"metadata": {"name": namespace}})
start = api.list_namespaced_config_map(namespace).metadata.resource_version
steps = {"applied": shown(apply({"a": "1", "b": "1"}, "one"))}
steps["conflict"] = refused(lambda: apply({"a": "2"}, "two"))
steps["forced"] = shown(apply({"a": "2"}, "two", force=True))
stale = api.read_namespaced_config_map("shop", namespace)
patch = {"metadata": {"labels": {"app": "shop"}}, "data": {"b": None, "c": "3"}}
steps["patched"] = shown(
    api.patch_namespaced_config_map("shop", namespace, patch, field_manager="three")
)
steps["stale"] = refused(lambda: api.replace_namespaced_config_map("shop", namespace, stale))
operations = [{"op": "replace", "path": "/data/c", "value": "4"}]
steps["json patch"] = shown(
    api.patch_namespaced_config_map("shop", namespace, operations, field_manager="three")
)
api.delete_namespaced_config_map("shop", namespace)
steps["missing"] = refused(lambda: api.read_namespaced_config_map("shop", namespace))

seen = []
for event in watch.Watch().stream(
    api.list_namespaced_config_map, namespace, resource_version=start, timeout_seconds=60
):
    if event["object"].metadata.name != "shop":
        continue
    seen.append([event["type"], event["object"].data])
    if event["type"] == "DELETED":
        break
steps["watched"] = seen
print(json.dumps(steps, sort_keys=True))
