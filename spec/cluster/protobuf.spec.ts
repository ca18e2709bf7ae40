import { expect } from 'chai';
import {
  listToProtobuf,
  objectFromProtobuf,
  watchEventToProtobuf,
  objectToProtobuf,
} from '../../lib/apiserver/protobuf/objects.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { withoutMembers } from '../../lib/object/json.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';

const accept = 'application/vnd.kubernetes.protobuf';
const namespace = '/api/v1/namespaces/default';

interface List extends UnstructuredObject {
  readonly items: readonly UnstructuredObject[];
}

interface Discovered {
  readonly groupVersion: string;
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

/** The real server is the reference: its bytes must equal those of the encoder for the same JSON. */
describe('protobuf of a real API server', () => {
  let plane: ControlPlane;

  before(async () => {
    plane = await sharedControlPlane();
    const template = {
      metadata: { labels: { app: 'protobuf' } },
      spec: {
        containers: [{ name: 'c', image: 'nginx', env: [{ name: 'A', value: 'b' }] }],
        volumes: [{ name: 'v', configMap: { name: 'protobuf', optional: true } }],
      },
    };
    const body = {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'protobuf' } },
      spec: { selector: { matchLabels: { app: 'protobuf' } }, template },
    };
    const path = '/apis/apps/v1/namespaces/default/deployments';
    await plane.api.json({ method: 'POST', path, body });
  });

  after(() =>
    plane.api.json({
      method: 'DELETE',
      path: '/apis/apps/v1/namespaces/default/deployments/protobuf',
    }),
  );

  it('equals what our encoder writes for the lists of all kinds', async () => {
    const kinds = await listed(plane);
    expect(kinds.length).to.be.greaterThan(50);
    for (const path of kinds) await eventually(() => compareList(plane, path));
  });

  it('equals what our encoder writes for the events of a watch', async () => {
    const path = `${namespace}/serviceaccounts?watch=1&timeoutSeconds=1&resourceVersion=0`;
    const { text } = await plane.api.send({ path });
    const { bytes } = await plane.api.send({ path, accept });
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as WatchEvent);
    expect(events.length).to.be.greaterThan(0);
    const own = events.map(({ type, object }) =>
      watchEventToProtobuf(type, objectToProtobuf(object)),
    );
    expect(Buffer.concat(own).toString('hex')).to.equal(bytes.toString('hex'));
  });

  it('can be decoded for a Status', async () => {
    const { bytes } = await plane.api.send({ path: `${namespace}/secrets/none`, accept });
    const status = objectFromProtobuf(bytes);
    expect(status).to.include({ apiVersion: 'v1', kind: 'Status', reason: 'NotFound', code: 404 });
    expect(Buffer.from(objectToProtobuf(status as unknown as UnstructuredObject))).to.deep.equal(
      bytes,
    );
  });
});

interface WatchEvent {
  readonly type: string;
  readonly object: UnstructuredObject;
}

/** Returns the paths of all lists of built-in kinds. */
async function listed({ api }: ControlPlane): Promise<string[]> {
  const { groups } = await api.json<{ groups: { versions: { groupVersion: string }[] }[] }>({
    path: '/apis',
  });
  const versions = groups.flatMap((group) =>
    group.versions.map(({ groupVersion }) => groupVersion),
  );
  // Other specs of the run install kinds with groups of their own.
  const builtIn = versions.filter((version) => /^[a-z]+\/|\.k8s\.io\//.test(version));
  const paths: string[] = [];
  for (const root of ['/api/v1', ...builtIn.map((version) => `/apis/${version}`)]) {
    const { resources } = await api.json<Discovered>({ path: root });
    const lists = resources.filter(({ verbs }) => verbs.includes('list'));
    paths.push(...lists.map(({ name }) => `${root}/${name}`));
  }
  // The order of these items is random.
  return paths.filter((path) => !path.endsWith('/componentstatuses'));
}

/** @throws AssertionError: the encodings differ, or an object changed between the requests */
async function compareList({ api }: ControlPlane, path: string): Promise<void> {
  const list = await api.json<List>({ path });
  const { bytes } = await api.send({ path, accept });
  const { apiVersion } = list;
  const kind = list.kind.replace(/List$/, '');
  const items = list.items.map((item) => ({ ...item, apiVersion, kind }));
  const own = Buffer.concat([...listToProtobuf(list, items)]);
  expect(own.toString('latin1'), path).to.equal(bytes.toString('latin1'));
  const decoded = objectFromProtobuf(bytes) as unknown as Partial<List> & UnstructuredObject;
  const read = decoded.items ?? [];
  expect(read.length, path).to.equal(items.length);
  for (const [at, item] of items.entries()) {
    const again = { ...read[at], apiVersion, kind } as UnstructuredObject;
    expect(Buffer.from(objectToProtobuf(again)), path).to.deep.equal(
      Buffer.from(objectToProtobuf(item)),
    );
  }
  expect(withoutMembers(decoded, 'items', 'metadata')).to.deep.equal({
    apiVersion,
    kind: list.kind,
  });
}
