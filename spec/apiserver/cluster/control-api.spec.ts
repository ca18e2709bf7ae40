import { expect } from 'chai';
import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Exec, KubeConfig } from '@kubernetes/client-node';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { configMap, deployment, pod } from '../controllers/workload-objects.js';

const token = 'the-control-token';

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & { readonly message?: string };
}

describe('the control API', () => {
  let cluster: EmbeddedCluster;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({
      ...{ port: 0, control: token, simulateWorkloads: true, clock: new VirtualClock() },
      users: { 'janes-token': 'jane' },
    });
  });

  afterEach(() => cluster.stop());

  async function call(
    method: string,
    path: string,
    body?: unknown,
    authorization = `Bearer ${token}`,
  ): Promise<Answer> {
    const answer = await fetch(`${cluster.url}/_control/v1${path}`, {
      ...{ method, headers: { authorization } },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  }

  const readMap = async (): Promise<number> => {
    const path = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
    return (await fetch(cluster.url + path)).status;
  };

  it('injects faults, counts how often each of them occurred, and removes them', async () => {
    const rule = { match: { resource: 'configmaps' }, effect: { type: 'status', code: 503 } };
    const added = await call('POST', '/faults', rule);
    expect(added).to.deep.equal({ status: 201, body: { id: '1', rule, struck: 0 } });
    expect(await readMap()).to.equal(503);
    expect((await call('GET', '/faults/1')).body).to.deep.include({ struck: 1 });
    cluster.faults.add({ match: { resource: 'pods' }, effect: { type: 'latency', ms: 1 } });
    const { body } = await call('GET', '/faults');
    expect(body['items']).to.have.length(2);
    expect((await call('DELETE', '/faults/1')).status).to.equal(200);
    expect(await readMap()).to.not.equal(503);
    const gone = await call('DELETE', '/faults/1');
    expect(gone.status).to.equal(404);
    expect(gone.body.message).to.equal('control API: unknown id, got "1"; known ids: 2');
    await call('DELETE', '/faults');
    expect(cluster.faults.active).to.deep.equal([]);
  });

  it('compacts the log and ends watches', async () => {
    const before = cluster.server.resourceVersion;
    await cluster.client().create(configMap('a'));
    const watch = `/api/v1/configmaps?watch=1&resourceVersion=${before}`;
    const open = await fetch(cluster.url + watch);
    await call('POST', '/drop-watches');
    await open.text();
    await call('POST', '/compact');
    const [line = ''] = (await (await fetch(cluster.url + watch)).text()).split('\n');
    expect(JSON.parse(line)).to.have.nested.property('object.code', 410);
  });

  it('advances the virtual clock, and settles the controllers', async () => {
    const before = (await call('GET', '/clock')).body;
    expect(before).to.deep.equal({ now: '2026-01-01T00:00:00.000Z', virtual: true });
    const later = await call('POST', '/clock/advance', { ms: 90_000 });
    expect(later.body).to.deep.equal({ now: '2026-01-01T00:01:30.000Z', virtual: true });
    expect((await call('POST', '/clock/advance', { ms: 0 })).body).to.deep.equal(later.body);
    const client = cluster.client();
    await client.create(deployment('web', { replicas: 2 }));
    await call('POST', '/settle');
    const { status } = await client.get(Deployment, { namespace: 'default', name: 'web' });
    expect(status).to.deep.include({ readyReplicas: 2 });
  });

  it('changes the behavior of pods', async () => {
    const rule = { match: { labels: { app: 'web' } }, behavior: 'crashLoop' };
    expect((await call('POST', '/pod-rules', rule)).body).to.deep.equal({ id: '1', rule });
    const client = cluster.client();
    await client.create(deployment('web'));
    await call('POST', '/settle');
    const read = () => client.get(Deployment, { namespace: 'default', name: 'web' });
    expect((await read()).status).to.not.have.property('readyReplicas');
    expect((await call('GET', '/pod-rules')).body).to.deep.equal({ items: [{ id: '1', rule }] });
    await call('DELETE', '/pod-rules/1');
    await call('POST', '/settle');
    expect((await read()).status).to.deep.include({ readyReplicas: 1 });
    await call('DELETE', '/pod-rules');
    expect((await call('GET', '/pod-rules')).body).to.deep.equal({ items: [] });
  });

  it('answers commands in pods, and lists the commands', async () => {
    const rule = { match: { name: 'web' }, exec: [{ command: ['id'], stdout: 'root' }] };
    expect((await call('POST', '/pod-rules', rule)).body).to.deep.equal({ id: '1', rule });
    await cluster.client().create(pod('web'));
    await call('POST', '/settle');
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeConfig());
    // client-node connects to a plain HTTP URL only with `skipTLSVerify`.
    const clusters = config.clusters.map((each) => ({ ...each, skipTLSVerify: true }));
    const { users, contexts, currentContext } = config;
    config.loadFromOptions({ clusters, users, contexts, currentContext });
    const output = new PassThrough();
    await new Promise((resolve, reject) => {
      new Exec(config)
        .exec('default', 'web', 'main', ['id', '-u'], output, null, null, false, resolve)
        .catch(reject);
    });
    output.end();
    expect(await text(output)).to.equal('root');
    const ran = { namespace: 'default', name: 'web', container: 'main', command: ['id', '-u'] };
    expect((await call('GET', '/commands')).body).to.deep.equal({ items: [ran] });
  });

  it('sets the metrics of pods', async () => {
    const rule = { metric: 'cpu', total: '2', match: { namespace: 'default' } };
    expect((await call('POST', '/metrics', rule)).body).to.deep.equal({ id: '1', rule });
    expect(cluster.metrics.active.map((one) => one.rule)).to.deep.equal([rule]);
    expect((await call('GET', '/metrics')).body).to.deep.equal({ items: [{ id: '1', rule }] });
    await call('DELETE', '/metrics/1');
    await call('POST', '/metrics', { metric: 'cpu', value: 1 });
    await call('DELETE', '/metrics');
    expect((await call('GET', '/metrics')).body).to.deep.equal({ items: [] });
  });

  it('takes snapshots and restores them', async () => {
    const client = cluster.client();
    await client.create(configMap('a'));
    const { status, body } = await call('POST', '/snapshots');
    expect(status).to.equal(201);
    expect(body['objects']).to.be.greaterThan(4);
    await client.delete(ConfigMap, { namespace: 'default', name: 'a' });
    await call('POST', '/snapshots/1/restore');
    await client.get(ConfigMap, { namespace: 'default', name: 'a' });
    await call('DELETE', '/snapshots/1');
    expect((await call('POST', '/snapshots/1/restore')).body.message).to.include('known ids: none');
    expect((await call('GET', '/snapshots')).body).to.deep.equal({ items: [] });
    await call('POST', '/snapshots');
    await call('DELETE', '/snapshots');
    expect((await call('GET', '/snapshots')).body).to.deep.equal({ items: [] });
  });

  it('returns the request log and the roles that its requests need, and clears the log', async () => {
    await cluster.client({ user: 'operator' }).create(configMap('a'));
    const { mark } = (await call('GET', '/requests')).body;
    await cluster.client({ user: 'jane' }).list(ConfigMap, { namespace: 'default' });
    const own = await call('GET', '/requests?user=operator&entries=true');
    expect(own.body).to.deep.include({ total: 1, writes: 1, reads: 0, byUser: { operator: 1 } });
    expect(own.body['entries']).to.have.length(1);
    const later = await call('GET', `/requests?since=${String(mark)}`);
    expect(later.body).to.deep.include({ byVerbAndResource: { 'list configmaps': 1 } });
    const { body } = await call('GET', '/roles?user=operator&name=operator');
    expect(body).to.have.nested.property('items[0].metadata.namespace', 'default');
    expect(body).to.have.nested.property('items[0].rules[0].verbs[0]', 'create');
    await call('DELETE', '/requests');
    expect((await call('GET', '/requests')).body).to.deep.include({ total: 0 });
  });

  it('returns the requests for a subresource, and roles for all namespaces', async () => {
    const client = cluster.client({ user: 'operator' });
    const map = await client.create(configMap('a'));
    await client.patch(map, { namespace: 'default', name: 'a' }, { type: 'merge', body: {} });
    await client.create(pod('p'));
    const patch = { type: 'merge', body: { status: {} } } as const;
    await client.patch(pod('p'), { namespace: 'default', name: 'p' }, patch, {
      subresource: 'status',
    });
    const counts: Record<string, unknown> = {};
    for (const query of [
      'subresource=status',
      'name=a',
      'verb=patch',
      'resource=pods',
      'group=x',
    ]) {
      counts[query] = (await call('GET', `/requests?user=operator&${query}`)).body['total'];
    }
    expect(counts).to.deep.equal({
      ...{
        'subresource=status': 1,
        'name=a': 1,
        'verb=patch': 2,
        'resource=pods': 2,
        'group=x': 0,
      },
    });
    const rulesOf = async (query: string) => {
      const { body } = await call('GET', `/roles?user=operator${query}`);
      return (body['items'] as readonly { kind: string }[]).map(({ kind }) => kind);
    };
    expect(await rulesOf('')).to.deep.equal(['Role']);
    expect(await rulesOf('&clusterWide=true')).to.deep.equal(['ClusterRole']);
  });

  it('returns a kubeconfig for the address that its client uses', async () => {
    const { port } = new URL(cluster.url);
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, host: 'localhost:12345' };
      const path = '/_control/v1/kubeconfig?user=jane';
      request({ port, path, headers }, (response) => {
        let read = '';
        response.on('data', (chunk) => (read += String(chunk)));
        response.on('end', () => resolve(read));
      })
        .on('error', reject)
        .end();
    });
    const config = new KubeConfig();
    config.loadFromString(text);
    expect(config.getCurrentCluster()?.server).to.equal('http://localhost:12345');
    expect(config.getCurrentUser()?.token).to.equal('janes-token');
  });

  for (const [method, path, body, [status, message]] of [
    [
      'GET',
      '/nothing',
      undefined,
      [404, 'unknown path, got /_control/v1/nothing; the paths are kubeconfig, faults, '],
    ],
    ['PUT', '/faults', undefined, [405, 'faults: unsupported method, got PUT; use GET, POST']],
    ['POST', '/faults', '{', [400, 'want a body of a JSON object: unexpected end of JSON input']],
    ['POST', '/faults', '[]', [400, 'want a body of a JSON object: got a list']],
    ['POST', '/faults', {}, [400, 'want effect.type to be one of status']],
    ['POST', '/faults', '['.repeat(20_000), [400, 'want a body of a JSON object']],
    ['POST', '/faults', ' '.repeat(4 * 1024 * 1024), [413, 'Request entity too large']],
    ['POST', '/pod-rules', { behavior: 1 }, [400, 'want behavior to be one of']],
    ['POST', '/metrics', { metric: 'cpu' }, [400, 'want either value or total']],
    ['POST', '/clock/advance', {}, [400, 'want ms to be 0 to 31622400000, got undefined']],
    ['POST', '/clock/advance', { ms: -1 }, [400, 'want ms to be 0 to 31622400000, got -1']],
    ['POST', '/clock/advance', { ms: 31622400001 }, [400, '0 to 31622400000, got 31622400001']],
    ['POST', '/clock/advance', { ms: '1' }, [400, 'want ms to be 0 to 31622400000, got "1"']],
    ['POST', '/clock/advance', { s: 1 }, [400, 'clock/advance: unknown option "s"']],
    ['POST', '/settle', { until: 1 }, [400, 'EmbeddedCluster.settled: unknown option "until"']],
    ['GET', '/requests?usr=a', undefined, [400, 'unknown option "usr"; did you mean "user"?']],
    ['GET', '/requests?since=x', undefined, [400, 'want since to be a mark, got "x"']],
    ['GET', '/roles?names=1', undefined, [400, 'want names to be true or false, got "1"']],
    ['GET', '/kubeconfig?user=joe', undefined, [400, 'no user joe: name it in the option users']],
  ] as const) {
    const shown = JSON.stringify([body]).slice(0, 20);
    it(`refuses ${method} ${path} with the body ${shown}`, async () => {
      const answer = await call(method, path, body);
      expect(answer.status).to.equal(status);
      expect(answer.body.message).to.include(message);
    });
  }

  it('answers 401 without its own token, which the API server refuses', async () => {
    for (const authorization of ['', 'Bearer janes-token', `Basic ${token}`]) {
      const answer = await call('DELETE', '/requests', undefined, authorization);
      expect(answer.status).to.equal(401);
      expect(answer.body.message).to.include('send the control token as a bearer token');
    }
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${cluster.url}/api/v1/pods`, { headers })).status).to.equal(401);
    expect((await call('GET', '')).body).to.include({ openWatches: 0, virtual: true });
  });
});

describe('EmbeddedCluster with and without a control API', () => {
  it('refuses to advance the system clock, and generates a token', async () => {
    const cluster = await EmbeddedCluster.start({ port: 0, control: true, host: '0.0.0.0' });
    const answer = await fetch(`${cluster.url}/_control/v1/clock/advance`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.controlToken}` },
      body: '{"ms":1}',
    });
    expect(cluster.url).to.match(/^http:\/\/127\.0\.0\.1:/);
    expect(answer.status).to.equal(409);
    expect(await answer.text()).to.include('start the server with a virtual clock');
    await cluster.stop();
  });

  it('serves no control API by default', async () => {
    const cluster = await EmbeddedCluster.start({ port: 0 });
    expect((await fetch(`${cluster.url}/_control/v1`)).status).to.equal(404);
    expect(() => cluster.controlToken).to.throw('start it with control: true');
    await cluster.stop();
  });

  it('refuses an empty token', async () => {
    const error: unknown = await EmbeddedCluster.start({ control: '' }).catch((it: unknown) => it);
    expect(error).to.have.property('code', 'InvalidOption');
  });
});
