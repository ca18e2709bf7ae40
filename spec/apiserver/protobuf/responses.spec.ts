import { expect } from 'chai';
import { objectFromProtobuf, objectToProtobuf } from '../../../lib/apiserver/protobuf/objects.js';
import type { TransportResponse } from '../../../lib/system/transport.js';
import { Api, configMap, configMaps, deployment, deployments } from '../api.js';
import { installed, widget, widgets } from '../custom/widgets.js';

const protobuf = 'application/vnd.kubernetes.protobuf';
/** The header that typed clients in Go send. */
const goAccept = `${protobuf},application/json`;
const metadataList = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

interface Decoded {
  readonly code: number;
  readonly type: string;
  /** The decoded body. */
  readonly object: Readonly<Record<string, unknown>> | undefined;
}

async function decoded({ status, headers, body }: TransportResponse): Promise<Decoded> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const object = objectFromProtobuf(Buffer.concat(chunks));
  return { code: status, type: headers['content-type'] ?? '', object };
}

describe('The embedded server with protobuf', () => {
  let api: Api;

  beforeEach(() => {
    api = new Api();
  });

  const get = (path: string, accept = goAccept): Promise<Decoded> =>
    api.raw({ path, headers: { accept } }).then(decoded);

  const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, object: object) => {
    const headers = { accept: goAccept, 'content-type': protobuf };
    const body = objectToProtobuf(object as Parameters<typeof objectToProtobuf>[0]);
    return api.raw({ method, path, headers, body }).then(decoded);
  };

  it('creates, reads, updates and deletes an object with protobuf only', async () => {
    const created = await send('POST', configMaps, configMap('a', { key: 'one' }));
    expect(created).to.deep.include({ code: 201, type: protobuf });
    expect(created.object).to.deep.include({ kind: 'ConfigMap', data: { key: 'one' } });
    const changed = { ...created.object, data: { key: 'two' } };
    expect(await send('PUT', `${configMaps}/a`, changed)).to.include({ code: 200, type: protobuf });
    const read = await get(`${configMaps}/a`);
    expect(read.object).to.deep.include({ apiVersion: 'v1', data: { key: 'two' } });
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'other' } };
    const refused = await send('DELETE', `${configMaps}/a`, options);
    expect(refused.object).to.include({ kind: 'Status', reason: 'Conflict', code: 409 });
    const deleted = await send('DELETE', `${configMaps}/a`, { ...options, preconditions: null });
    expect(deleted.object).to.include({ kind: 'Status', status: 'Success' });
    const absent = await get(`${configMaps}/a`);
    expect(absent).to.include({ code: 404, type: protobuf });
    expect(absent.object).to.include({ kind: 'Status', reason: 'NotFound' });
  });

  it('scales a Deployment in protobuf', async () => {
    await api.create(deployments, deployment('web', { replicas: 1 }));
    const { object: scale } = await get(`${deployments}/web/scale`);
    expect(scale).to.deep.include({ kind: 'Scale', spec: { replicas: 1 } });
    const answer = await send('PUT', `${deployments}/web/scale`, {
      ...scale,
      spec: { replicas: 3 },
    });
    expect(answer.object).to.deep.include({ kind: 'Scale', spec: { replicas: 3 } });
  });

  it('returns the same items in lists as in JSON', async () => {
    for (const name of ['a', 'b', 'c']) await api.create(configMaps, configMap(name, { name }));
    const { type, object } = await get(`${configMaps}?limit=2`);
    expect(type).to.equal(protobuf);
    const { body } = await api.get(`${configMaps}?limit=2`);
    expect(object).to.deep.include({ kind: 'ConfigMapList', apiVersion: 'v1' });
    const items = object?.['items'] as readonly { metadata: { name: string }; data: object }[];
    expect(items.map(({ data }) => data)).to.deep.equal([{ name: 'a' }, { name: 'b' }]);
    expect(object?.['metadata']).to.include({
      continue: (body.metadata as { continue?: string }).continue,
      remainingItemCount: 1,
    });
  });

  it('uses the encoding with the highest quality value, and the first one of equal quality', async () => {
    const types = async (accept: string): Promise<string> => (await get(configMaps, accept)).type;
    expect(await types(`application/json;q=0.5,${protobuf}`)).to.equal(protobuf);
    expect(await types(`${protobuf};q=0.5,application/json`)).to.equal('application/json');
    expect(await types('application/json, */*')).to.equal('application/json');
    expect(await types(`${protobuf}, */*`)).to.equal(protobuf);
    expect(await types('*/*')).to.equal('application/json');
  });

  it('refuses tables in protobuf unless the client accepts another form', async () => {
    const table = 'as=Table;g=meta.k8s.io;v=v1';
    expect(await get(configMaps, `${protobuf};${table}`)).to.include({ code: 406 });
    const { type } = await get(configMaps, `${protobuf};${table},application/json;${table}`);
    expect(type).to.equal('application/json');
  });

  it('returns custom resources in JSON, but their metadata in protobuf', async () => {
    await installed(api);
    await api.create(widgets, widget('w'));
    expect(await get(widgets)).to.include({ code: 200, type: 'application/json' });
    expect(await get(widgets, protobuf)).to.include({ code: 406 });
    const { type, object } = await get(widgets, `${protobuf};${metadataList}`);
    expect(type).to.equal(protobuf);
    expect(object).to.include({ kind: 'PartialObjectMetadataList' });
    const [item] = object?.['items'] as readonly { metadata: object }[];
    expect(item?.metadata).to.include({ name: 'w', namespace: 'default' });
    const absent = await get(`${widgets}/none`, goAccept);
    expect(absent.object).to.include({ kind: 'Status', code: 404 });
  });

  it('returns errors in protobuf to unknown and forbidden users, and also injected errors', async () => {
    const users = { 'jane-token': 'jane', 'root-token': { name: 'r', groups: ['system:masters'] } };
    const { server } = new Api({ rbac: true, users });
    server.faults.add({ match: { user: 'r' }, effect: { type: 'status', code: 503 } });
    for (const [token, path, code] of [
      ['none', configMaps, 401],
      ['jane-token', configMaps, 403],
      ['jane-token', '/metrics', 403],
      ['root-token', configMaps, 503],
    ] as const) {
      const headers = { accept: goAccept, authorization: `Bearer ${token}` };
      const answer = await server.handle({ method: 'GET', path, headers }).then(decoded);
      expect(answer).to.include({ code, type: protobuf });
      expect(answer.object).to.include({ kind: 'Status', status: 'Failure', code });
    }
  });

  it('sends the length of each event of a watch before the event', async () => {
    await api.create(configMaps, configMap('a'));
    const path = `${configMaps}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
    const { headers, body } = await api.raw({ path, headers: { accept: goAccept } });
    expect(headers['content-type']).to.equal(`${protobuf};stream=watch`);
    const frames = body[Symbol.asyncIterator]();
    const { value } = (await frames.next()) as { value: Uint8Array };
    const events = eventsOf(value);
    expect(events.map(({ type }) => type)).to.deep.equal(['ADDED', 'BOOKMARK']);
    expect(events[0]?.object).to.deep.include({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(events[1]?.object?.['metadata']).to.deep.include({
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
    await frames.return?.();
  });

  it('ends a watch of a compacted version with a Status in protobuf', async () => {
    await api.create(configMaps, configMap('a'));
    await api.create(configMaps, configMap('b'));
    api.server.compact();
    const path = `${configMaps}?watch=1&resourceVersion=1`;
    const { body } = await api.raw({ path, headers: { accept: goAccept } });
    const { value } = (await body[Symbol.asyncIterator]().next()) as { value: Uint8Array };
    const [event] = eventsOf(value);
    expect(event?.type).to.equal('ERROR');
    expect(event?.object).to.include({ kind: 'Status', code: 410 });
  });
});

interface WatchEvent {
  readonly type: string;
  readonly object: ReturnType<typeof objectFromProtobuf>;
}

/** Splits frames: four bytes of length, the type as field 1, the object as field 1 of field 2. */
function eventsOf(bytes: Uint8Array): WatchEvent[] {
  const events: WatchEvent[] = [];
  const buffer = Buffer.from(bytes);
  for (let at = 0; at < buffer.length;) {
    const frame = buffer.subarray(at + 4, at + 4 + buffer.readUInt32BE(at));
    const type = frame.toString('latin1', 2, 2 + (frame[1] ?? 0));
    events.push({ type, object: objectFromProtobuf(frame.subarray(frame.indexOf('k8s\0'))) });
    at += 4 + frame.length;
  }
  return events;
}
