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
});
