//! Applies, patches and watches a ConfigMap: `session KUBECONFIG NAMESPACE`. Prints what the server answered.

use std::error::Error;

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

type Answer = Result<ConfigMap, kube::Error>;

fn shown(answer: Answer) -> Result<Value, kube::Error> {
    let object = answer?;
    let entries = object.metadata.managed_fields.unwrap_or_default();
    let mut managers: Vec<String> = entries
        .into_iter()
        .map(|entry| {
            let fields = entry.fields_v1.map(|fields| fields.0).unwrap_or_default();
            format!(
                "{} {} {fields}",
                entry.manager.unwrap_or_default(),
                entry.operation.unwrap_or_default()
            )
        })
        .collect();
    managers.sort();
    Ok(json!({ "data": object.data, "labels": object.metadata.labels, "managers": managers }))
}

fn refused(answer: Answer) -> Value {
    match answer {
        Err(kube::Error::Api(status)) => {
            json!({ "code": status.code, "reason": status.reason, "message": status.message })
        }
        other => json!(format!("not refused: {other:?}")),
    }
}

fn desired(data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "shop" }, "data": data })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let kubeconfig = Kubeconfig::read_from(args.next().expect("KUBECONFIG"))?;
    let namespace = args.next().expect("NAMESPACE");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    let namespaces: Api<Namespace> = Api::all(client);
    let new = serde_json::from_value(json!({ "metadata": { "name": namespace } }))?;
    namespaces.create(&PostParams::default(), &new).await?;
    let start = maps.list(&ListParams::default()).await?.metadata.resource_version;

    let [one, two, three] = ["one", "two", "three"].map(PatchParams::apply);
    let apply = |data: Value, params: PatchParams| {
        let maps = maps.clone();
        async move { maps.patch("shop", &params, &Patch::Apply(desired(data))).await }
    };
    let mut steps = serde_json::Map::new();
    let mut step = |name: &str, value: Value| steps.insert(name.into(), value);
    step("applied", shown(apply(json!({ "a": "1", "b": "1" }), one).await)?);
    step("conflict", refused(apply(json!({ "a": "2" }), two.clone()).await));
    step("forced", shown(apply(json!({ "a": "2" }), two.force()).await)?);
    let stale = maps.get("shop").await?;
    let merge = json!({ "metadata": { "labels": { "app": "shop" } }, "data": { "b": null, "c": "3" } });
    step("patched", shown(maps.patch("shop", &three, &Patch::Merge(merge)).await)?);
    step("stale", refused(maps.replace("shop", &PostParams::default(), &stale).await));
    let operations = json!([{ "op": "replace", "path": "/data/c", "value": "4" }]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(operations)?);
    step("json patch", shown(maps.patch("shop", &three, &patch).await)?);
    maps.delete("shop", &DeleteParams::default()).await?;
    step("missing", refused(maps.get("shop").await));

    let mut seen = Vec::new();
    let params = WatchParams::default().timeout(60);
    let mut events = Box::pin(maps.watch(&params, &start.unwrap_or_default()).await?);
    while let Some(event) = events.try_next().await? {
        let (kind, object) = match event {
            WatchEvent::Added(object) => ("ADDED", object),
            WatchEvent::Modified(object) => ("MODIFIED", object),
            WatchEvent::Deleted(object) => ("DELETED", object),
            _ => continue,
        };
        if object.metadata.name.as_deref() != Some("shop") {
            continue;
        }
        seen.push(json!([kind, object.data]));
        if kind == "DELETED" {
            break;
        }
    }
    step("watched", json!(seen));
    println!("{}", Value::Object(steps));
    Ok(())
}
