// An API server that knows nothing but the ConfigMaps of one namespace, in a process of its own:
// `event-feed.ts <namespace> <objects>`. It lists and watches, and for a line `{"count","rate"}` on
// stdin sends so many changes, so many a second: a real server would be what limits. It prints its
// kubeconfig, then for each command how many it sent a second. It ends with its parent.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { kubeConfigOf } from './api-server-process.js';

const [namespace = '', objects = '0'] = process.argv.slice(2);
const watchers = new Set<ServerResponse>();
let version = 1_000;

/** As a server sends it: `managedFields` and all, in Go's order. */
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

function answer({ url = '/' }: IncomingMessage, response: ServerResponse): void {
  const query = new URL(url, 'http://feed').searchParams;
  const texts = (): string[] => Array.from({ length: Number(objects) }, (_, n) => configMap(n));
  response.writeHead(200, { 'content-type': 'application/json' });
  if (query.get('watch') !== 'true') {
    const items = texts().join(',');
    const metadata = `{"resourceVersion":"${version}"}`;
    const list = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":${metadata},"items":[${items}]}`;
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
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata };
  response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
}

function added(object: string): string {
  return `{"type":"ADDED","object":${object}}\n`;
}

/** Sends what is due each millisecond. */
async function send({ count, rate }: { readonly count: number; readonly rate: number }) {
  const startMs = performance.now();
  for (let sent = 0; sent < count;) {
    const due = Math.min(count, Math.ceil(((performance.now() - startMs) / 1_000) * rate));
    let chunk = '';
    for (; sent < due; sent++) {
      chunk += `{"type":"MODIFIED","object":${configMap(sent % Number(objects))}}\n`;
    }
    // What a slow reader leaves waits here: what is offered does not depend on it.
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
