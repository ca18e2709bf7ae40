import { expect } from 'chai';
import { Api, configMap, configMaps, deployment, deployments, merge } from '../api.js';

const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const pods = '/api/v1/namespaces/default/pods';
const services = '/api/v1/namespaces/default/services';

interface Table {
  columnDefinitions: { name: string; priority: number }[];
  rows: { cells: unknown[]; object: object }[];
}

interface WatchTable {
  columnDefinitions: unknown[] | null;
}

/** Returns the cells of the first row by column name. */
async function firstRow(api: Api, path: string): Promise<Record<string, unknown>> {
  const { columnDefinitions, rows } = (await api.get(path, { accept })).body as unknown as Table;
  const cells = rows[0]?.cells ?? [];
  return Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, cells[index]]));
}

describe('tables', () => {
  it('print Deployments with the columns of kubectl', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web', { replicas: 3 }));
    const status = { replicas: 3, readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 };
    await api.call('PATCH', `${deployments}/web/status`, { status }, merge);
    await api.clock.advance(3 * 60_000);
    expect(await firstRow(api, deployments)).to.deep.equal({
      Name: 'web',
      Ready: '2/3',
      'Up-to-date': 3,
      Available: 1,
      Age: '3m',
      Containers: 'c',
      Images: 'nginx',
      Selector: 'app=web',
    });
  });

  it('print why a pod waits', async () => {
    const api = new Api();
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await api.create(pods, { metadata: { name: 'a' }, spec });
    const waiting = { reason: 'CrashLoopBackOff' };
    const containerStatuses = [
      { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 2, state: { waiting } },
    ];
    const status = { phase: 'Running', podIP: '10.0.0.1', containerStatuses };
    await api.call('PATCH', `${pods}/a/status`, { status }, merge);
    expect(await firstRow(api, pods)).to.include({
      Ready: '0/1',
      Status: 'CrashLoopBackOff',
      Restarts: '2',
      IP: '10.0.0.1',
      Node: '<none>',
    });
    await api.call('PATCH', `${pods}/a`, { metadata: { finalizers: ['a.b/c'] } }, merge);
    await api.call('DELETE', `${pods}/a`);
    expect(await firstRow(api, pods)).to.include({ Status: 'Terminating' });
  });

  it('print the ports of Services', async () => {
    const api = new Api();
    const ports = [
      { name: 'a', port: 80, nodePort: 30001 },
      { name: 'b', port: 53, nodePort: 30002, protocol: 'UDP' },
    ];
    await api.create(services, { metadata: { name: 'a' }, spec: { type: 'NodePort', ports } });
    expect(await firstRow(api, services)).to.include({
      Type: 'NodePort',
      'External-IP': '<none>',
      'Port(s)': '80:30001/TCP,53:30002/UDP',
    });
  });

  it('contain objects as includeObject requests', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a', { x: 'y' }));
    const shown = async (query: string): Promise<Record<string, unknown>> => {
      const { body } = await api.get(`${configMaps}${query}`, { accept });
      return (body as unknown as Table).rows[0]?.object as Record<string, unknown>;
    };
    expect(await shown('')).to.include({ kind: 'PartialObjectMetadata' });
    expect(await shown('')).not.to.have.property('data');
    expect(await shown('?includeObject=Object')).to.deep.include({ data: { x: 'y' } });
    expect(await shown('?includeObject=None')).to.equal(null);
  });

  it('define their columns only once in a watch', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    await api.create(configMaps, configMap('b'));
    const response = await api.raw({ path: `${configMaps}?watch=1`, headers: { accept } });
    const body = response.body[Symbol.asyncIterator]();
    const first = await body.next();
    await body.return?.();
    const text = first.done === true ? '' : new TextDecoder().decode(first.value);
    const lines = text.trim().split('\n');
    const tables = lines.map((line) => (JSON.parse(line) as { object: WatchTable }).object);
    const counts = tables.map(({ columnDefinitions }) => columnDefinitions?.length);
    expect(counts).to.deep.equal([3, undefined]);
  });

  describe('of signing requests', () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const pem = '-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----';
    const request = Buffer.from(pem).toString('base64');
    const created = async (expirationSeconds: number): Promise<Api> => {
      const api = new Api();
      const spec = { request, signerName: 'example.com/s', usages: ['client auth'] };
      await api.create(path, { metadata: { name: 'a' }, spec: { ...spec, expirationSeconds } });
      return api;
    };
    const minute = 60;
    const hour = 60 * minute;
    const day = 24 * hour;
    const durations = [
      ...([
        [10 * minute, '10m'],
        [3 * hour - 1, '179m'],
        [3 * hour, '3h'],
      ] as const),
      ...([
        [8 * hour - 1, '7h59m'],
        [8 * hour, '8h'],
        [2 * day - 1, '47h'],
      ] as const),
      ...([
        [2 * day, '2d'],
        [2 * day + hour, '2d1h'],
        [8 * day - 1, '7d23h'],
      ] as const),
      ...([
        [8 * day, '8d'],
        [730 * day - 1, '729d'],
        [730 * day, '2y'],
      ] as const),
      ...([
        [731 * day, '2y1d'],
        [2920 * day - 1, '7y364d'],
        [2921 * day, '8y'],
      ] as const),
    ];
    for (const [seconds, text] of durations) {
      it(`shows a duration of ${seconds} seconds as ${text}`, async () => {
        expect((await firstRow(await created(seconds), path))['RequestedDuration']).to.equal(text);
      });
    }

    // Texts of the real server (v1.36).
    for (const [types, certificate, text] of [
      [[], '', 'Pending'],
      [['Approved'], '', 'Approved'],
      [['Denied'], '', 'Denied'],
      [['Failed'], '', 'Pending,Failed'],
      [['Approved', 'Failed'], '', 'Approved,Failed'],
      [['Denied', 'Failed'], '', 'Denied,Failed'],
      [['Approved'], 'eA==', 'Approved,Issued'],
    ] as const) {
      it(`shows the state ${text}`, async () => {
        const api = await created(600);
        const conditionOf = (type: string) => ({ type, status: 'True', reason: 'A' });
        const decisions = types.filter((type) => type !== 'Failed').map(conditionOf);
        const all = types.map(conditionOf);
        const approval = { status: { conditions: decisions } };
        await api.call('PATCH', `${path}/a/approval`, approval, merge);
        const status = { conditions: all, ...(certificate !== '' && { certificate }) };
        const { code } = await api.call('PATCH', `${path}/a/status`, { status }, merge);
        expect([code, (await firstRow(api, path))['Condition']]).to.deep.equal([200, text]);
      });
    }
  });
});
