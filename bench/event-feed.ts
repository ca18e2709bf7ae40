// A minimal API server, fast enough not to limit the clients under test:
// `event-feed.ts <namespace> <objects> <ConfigMap|Pod>`. It serves lists and watches of one kind in one
// namespace. A line `{"count","rate"}` on stdin makes it send `count` changes, `rate` per second.
// It prints a line of JSON with its kubeconfig, then one for each command with the changes sent per second.
// It exits when stdin closes.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { kubeConfigOf } from './api-server-process.js';

const [namespace = '', objects = '0', kind = 'ConfigMap'] = process.argv.slice(2);
const watchers = new Set<ServerResponse>();
let version = 1_000;

/** Returns a ConfigMap as kube-apiserver sends it: with `managedFields`, and members in the order of Go. */
function configMap(n: number): string {
  const uid = `0048f18e-bd83-44fc-837e-${String(n).padStart(12, '0')}`;
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const labels = { app: `app-${n % 100}`, 'app.kubernetes.io/managed-by': 'bench' };
  const manager = { manager: 'bench', operation: 'Update', apiVersion: 'v1' };
  const fieldsV1 = { 'f:data': { '.': {}, 'f:at': {}, 'f:key': {} } };
  const managedFields = [{ ...manager, time: creationTimestamp, fieldsType: 'FieldsV1', fieldsV1 }];
  const resourceVersion = String(++version);
  const head = { name: `c-${n}`, namespace, uid, resourceVersion, creationTimestamp };
  const metadata = { ...head, labels, managedFields };
  const data = { key: 'x'.repeat(200), at: String(process.hrtime.bigint()) };
  return JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data });
}

/** Returns a Pod of a Deployment with one container, as kube-apiserver 1.33 sends it. */
function pod(n: number): string {
  const uid = `0048f18e-bd83-44fc-837e-${String(n).padStart(12, '0')}`;
  const time = '2026-01-01T00:00:00Z';
  const at = String(process.hrtime.bigint());
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-6d4cf56db6', uid };
  const token = `kube-api-access-${n}`;
  const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
  const resources = { limits: { memory: '256Mi' }, requests: { cpu: '100m', memory: '256Mi' } };
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, timeoutSeconds: 1 };
  const container = {
    ...{ name: 'web', image: 'nginx:1.27', args: ['--port=8080'], imagePullPolicy: 'IfNotPresent' },
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: ['A', 'B', 'C'].map((name) => ({ name, value: `value of ${name}` })),
    ...{ resources, livenessProbe: probe, readinessProbe: probe },
    volumeMounts: [{ name: token, readOnly: true, mountPath }],
    ...{ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  };
  const managedFields = [
    managed('kube-controller-manager', [
      ...['generateName', 'labels', 'ownerReferences', 'containers', 'env', 'image', 'name'],
      ...['livenessProbe', 'readinessProbe', 'ports', 'resources', 'limits', 'requests'],
      ...['dnsPolicy', 'restartPolicy', 'schedulerName', 'securityContext', 'enableServiceLinks'],
    ]),
    managed('kubelet', [
      ...['conditions', 'lastProbeTime', 'lastTransitionTime', 'status', 'type', 'hostIP'],
      ...['containerStatuses', 'phase', 'podIP', 'podIPs', 'startTime', 'observedGeneration'],
    ]),
  ];
  const resourceVersion = String(++version);
  const metadata = {
    ...{ name: `web-6d4cf56db6-${n}`, generateName: 'web-6d4cf56db6-', namespace, uid },
    ...{ resourceVersion, generation: 1, creationTimestamp: time },
    labels: { app: `app-${n % 100}`, 'pod-template-hash': '6d4cf56db6' },
    annotations: { at },
    ...{
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      managedFields,
    },
  };
  const items = [{ key: 'ca.crt', path: 'ca.crt' }];
  const sources = [{ configMap: { name: 'kube-root-ca.crt', items } }];
  const tolerations = ['not-ready', 'unreachable'].map((name) => ({
    ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute' },
    tolerationSeconds: 300,
  }));
  const spec = {
    volumes: [{ name: token, projected: { sources, defaultMode: 420 } }],
    containers: [container],
    ...{ restartPolicy: 'Always', terminationGracePeriodSeconds: 30, dnsPolicy: 'ClusterFirst' },
    ...{ serviceAccountName: 'default', nodeName: `node-${n % 10}`, securityContext: {} },
    ...{ schedulerName: 'default-scheduler', tolerations, priority: 0, enableServiceLinks: true },
  };
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady'];
  const conditions = [...types, 'PodScheduled'].map((type) => ({
    ...{ type, observedGeneration: 1, status: 'True', lastProbeTime: null },
    lastTransitionTime: time,
  }));
  const state = { running: { startedAt: time } };
  const image = { image: 'docker.io/library/nginx:1.27', imageID: `sha256:${'a'.repeat(64)}` };
  const status = {
    ...{
      observedGeneration: 1,
      phase: 'Running',
      conditions,
      hostIP: '10.0.0.1',
      podIP: '10.1.0.1',
    },
    ...{ podIPs: [{ ip: '10.1.0.1' }], startTime: time, qosClass: 'Burstable' },
    containerStatuses: [
      { name: 'web', state, lastState: {}, ready: true, restartCount: 0, ...image },
    ],
  };
  return JSON.stringify({ kind: 'Pod', apiVersion: 'v1', metadata, spec, status });
}

function managed(manager: string, names: readonly string[]): object {
  const fields = Object.fromEntries(names.map((name) => [`f:${name}`, { '.': {}, 'f:name': {} }]));
  const time = '2026-01-01T00:00:00Z';
  const head = { manager, operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1' };
  return { ...head, fieldsV1: { 'f:spec': fields } };
}

const object = kind === 'Pod' ? pod : configMap;

function answer({ url = '/' }: IncomingMessage, response: ServerResponse): void {
  const query = new URL(url, 'http://feed').searchParams;
  const texts = (): string[] => Array.from({ length: Number(objects) }, (_, n) => object(n));
  response.writeHead(200, { 'content-type': 'application/json' });
  if (query.get('watch') !== 'true') {
    const items = texts().join(',');
    const metadata = `{"resourceVersion":"${version}"}`;
    const list = `{"kind":"${kind}List","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`;
    response.end(list);
    return;
  }
  response.flushHeaders();
  response.once('close', () => watchers.delete(response));
  watchers.add(response);
  if (query.get('sendInitialEvents') !== 'true') return;
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  response.write(texts().map(added).join(''));
  const metadata = { resourceVersion: String(version), annotations };
  const bookmark = { kind, apiVersion: 'v1', metadata };
  response.write(`${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`);
}

function added(text: string): string {
  return `{"type":"ADDED","object":${text}}\n`;
}

/** Sends `count` changes to all watchers. About every millisecond, it sends the changes that are due. */
async function send({ count, rate }: { readonly count: number; readonly rate: number }) {
  const startMs = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.ceil(((performance.now() - startMs) / 1_000) * rate));
    let chunk = '';
    for (; sent < due; sent++) {
      chunk += `{"type":"MODIFIED","object":${object(sent % Number(objects))}}\n`;
    }
    // Ignores back-pressure: events for a slow reader are buffered here, so that it cannot lower the rate.
    if (chunk !== '') for (const watcher of watchers) watcher.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return { perSecond: count / ((performance.now() - startMs) / 1_000) };
}

const server = createServer(answer);
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const kubeConfig = kubeConfigOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.stdout.write(`${JSON.stringify({ kubeConfig })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const result = await send(JSON.parse(line) as { count: number; rate: number });
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
process.exit(0);
