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

describe('responses as a Table', () => {
  it('are refused with an unknown value of includeObject', async () => {
    const answer = await new Api().get(`${configMaps}?includeObject=all`, { accept });
    expect([answer.code, answer.body.message]).to.deep.equal([
      400,
      `Unable to convert to Table as requested: includeObject: Invalid value: "all": must be 'Metadata', 'Object', 'None', or empty`,
    ]);
  });

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

  it('print the reason why a pod is waiting', async () => {
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

  it('mark the rows of pods that have ended', async () => {
    const api = new Api();
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    for (const phase of ['Failed', 'Running', 'Succeeded']) {
      const name = phase.toLowerCase();
      await api.create(pods, { metadata: { name }, spec });
      await api.call('PATCH', `${pods}/${name}/status`, { status: { phase } }, merge);
    }
    const { rows } = (await api.get(pods, { accept })).body as unknown as {
      rows: { conditions?: object[] }[];
    };
    const ended = { type: 'Completed', status: 'True' };
    expect(rows.map(({ conditions }) => conditions)).to.deep.equal([
      [{ ...ended, reason: 'Failed', message: 'The pod failed.' }],
      undefined,
      [{ ...ended, reason: 'Succeeded', message: 'The pod has completed successfully.' }],
    ]);
  });

  it('have an empty list of rows without objects for kinds with columns of their own, and null for other kinds', async () => {
    const api = new Api();
    const limits = '/api/v1/namespaces/default/limitranges';
    const rowsOf = async (path: string) => (await api.get(path, { accept })).body['rows'];
    expect([await rowsOf(pods), await rowsOf(limits)]).to.deep.equal([[], null]);
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

  const networking = '/apis/networking.k8s.io/v1';
  const balanced = {
    loadBalancer: {
      ingress: [{ hostname: 'b.example.com' }, { ip: '10.0.0.2' }, { ip: '10.0.0.2' }],
    },
  };
  const ports = [{ port: 80 }];
  const event = {
    ...{ type: 'Normal', reason: 'Made', source: { component: 'a' }, reportingComponent: 'b' },
    ...{ involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' }, reportingInstance: 'i' },
  };
  const endpoints = { subsets: [{ notReadyAddresses: [{ ip: '10.1.2.3' }], ports }] };

  // Cells of the real server (v1.36).
  for (const { title, path, object, status, cells } of [
    {
      title: 'all roles of a Node, and its architecture',
      path: '/api/v1/nodes',
      object: {
        metadata: {
          labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' },
        },
      },
      status: { nodeInfo: { kernelVersion: '6.1', architecture: 'arm64' } },
      cells: { Roles: 'edge,worker', 'Kernel-Version': '6.1 (arm64)' },
    },
    {
      title: 'the addresses of a load balancer once each',
      path: services,
      object: { spec: { type: 'LoadBalancer', ports } },
      status: balanced,
      cells: { 'External-IP': '10.0.0.2,b.example.com' },
    },
    {
      title: 'the addresses of an Ingress once each',
      path: `${networking}/namespaces/default/ingresses`,
      object: { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
      status: balanced,
      cells: { Address: '10.0.0.2,b.example.com' },
    },
    {
      title: 'the instance that reported an Event of a component',
      path: '/api/v1/namespaces/default/events',
      object: event,
      cells: { Source: 'a, i' },
    },
    {
      title: 'the default IngressClass',
      path: `${networking}/ingressclasses`,
      object: {
        metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
        spec: { controller: 'example.com/c' },
      },
      cells: { Name: 'a (default)' },
    },
    {
      title: 'no addresses of Endpoints that are not ready',
      path: '/api/v1/namespaces/default/endpoints',
      object: endpoints,
      cells: { Endpoints: '' },
    },
    {
      title: 'addresses of IPv6 in brackets before a port',
      path: '/api/v1/namespaces/default/endpoints',
      object: { subsets: [{ addresses: [{ ip: 'fd00::1' }], ports }] },
      cells: { Endpoints: '[fd00::1]:80' },
    },
    {
      title: 'three hosts of an Ingress, and the number of its other rules',
      path: `${networking}/namespaces/default/ingresses`,
      object: {
        spec: { rules: ['a', '', 'b', 'c', ''].map((host) => (host === '' ? {} : { host })) },
      },
      cells: { Hosts: 'a,b,c + 2 more...' },
    },
    {
      title: 'a parameter whose namespace is that of the request',
      path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      object: {
        spec: {
          ...{ policyName: 'p', validationActions: ['Deny'] },
          paramRef: { name: 'x', parameterNotFoundAction: 'Deny' },
        },
      },
      cells: { ParamRef: '*/x' },
    },
    {
      title: 'a selector of parameters as Go does',
      path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      object: {
        spec: {
          ...{ policyName: 'p', validationActions: ['Deny'] },
          paramRef: {
            parameterNotFoundAction: 'Deny',
            selector: {
              matchLabels: { c: 'd', a: 'b' },
              matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
            },
          },
        },
      },
      cells: {
        ParamRef:
          '&LabelSelector{MatchLabels:map[string]string{a: b,c: d,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
      },
    },
  ] as const) {
    it(`print ${title}`, async () => {
      const api = new Api();
      const metadata = { name: 'a', ...('metadata' in object && object.metadata) };
      await api.create(path, { ...object, metadata });
      if (status !== undefined) await api.call('PATCH', `${path}/a/status`, { status }, merge);
      expect(await firstRow(api, path)).to.include(cells);
    });
  }

  it('print both states of an allocated ResourceClaim that is being deleted, deleted first', async () => {
    const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims';
    const api = new Api();
    await api.create(claims, { metadata: { name: 'a', finalizers: ['a.b/c'] }, spec: {} });
    await api.call('PATCH', `${claims}/a/status`, { status: { allocation: {} } }, merge);
    await api.call('DELETE', `${claims}/a`);
    expect(await firstRow(api, claims)).to.include({ State: 'deleted,allocated' });
  });

  describe('of CertificateSigningRequests', () => {
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

    const block = '-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n';
    const issued = Buffer.from(block).toString('base64');

    // Texts of the real server (v1.36).
    for (const [types, certificate, text] of [
      [[], '', 'Pending'],
      [['Approved'], '', 'Approved'],
      [['Denied'], '', 'Denied'],
      [['Failed'], '', 'Pending,Failed'],
      [['Approved', 'Failed'], '', 'Approved,Failed'],
      [['Denied', 'Failed'], '', 'Denied,Failed'],
      [['Approved'], issued, 'Approved,Issued'],
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
