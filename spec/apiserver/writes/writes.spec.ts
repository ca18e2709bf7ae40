import { expect } from 'chai';
import {
  Api,
  apply,
  configMap,
  configMaps,
  deployment,
  deployments,
  jsonPatch,
  merge,
  strategic,
} from '../api.js';
import { causeFields } from '../causes.js';

describe('writes', () => {
  it('create an object with uid, resourceVersion and time, which can be read', async () => {
    const api = new Api();
    const created = await api.create(configMaps, configMap('a', { x: 'y' }));
    expect(created.metadata).to.include({
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
    });
    expect(created.metadata.uid).to.match(/^[0-9a-f-]{36}$/);
    expect((await api.get(`${configMaps}/a`)).body).to.deep.equal(created);
  });

  it('answer 409 AlreadyExists for an existing object, but first 422 if the new object is invalid', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const again = await api.call('POST', configMaps, configMap('a'));
    expect(again).to.have.property('code', 409);
    expect(again.body['reason']).to.equal('AlreadyExists');
    const invalid = await api.call('POST', configMaps, configMap('a', { '/': 'x' }));
    expect(invalid.code).to.equal(422);
  });

  it('report that an existing object of the same name is being deleted', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a', {}, { finalizers: ['example.com/f'] }));
    await api.call('DELETE', `${configMaps}/a`);
    const again = await api.call('POST', configMaps, configMap('a'));
    expect([again.code, again.body.message]).to.deep.equal([
      ...[409, 'object is being deleted: configmaps "a" already exists'],
    ]);
  });

  it('drop duplicate owner references with a warning', async () => {
    const api = new Api();
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', controller: true };
    const ownerReferences = [owner, owner];
    const created = await api.call('POST', configMaps, configMap('a', {}, { ownerReferences }));
    expect(created.body.metadata.ownerReferences).to.deep.equal([owner]);
    expect(created.headers['warning']).to.match(/contains duplicate entries; .* observed: u"$/);
    const body = { metadata: { ownerReferences } };
    const patched = await api.call('PATCH', `${configMaps}/a`, body, merge);
    expect(patched.body.metadata.ownerReferences).to.deep.equal([owner]);
    expect(patched.headers['warning']).to.match(/duplicate entries after mutating admission/);
  });

  it('quote the merged object in the error about wrong types, or a strategic merge patch itself', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const problem = async (type: string): Promise<string> =>
      (await api.call('PATCH', `${configMaps}/a`, { data: ['x'] }, type)).body.message;
    expect(await problem(merge)).to.match(
      /Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"data\\":\[\\"x\\"\],\\"kind.*json: cannot unmarshal/,
    );
    expect(await problem(strategic)).to.equal(
      ' "" is invalid: patch: Invalid value: "map[data:[x]]": cannot restore map from slice',
    );
  });

  it('answer 404 if the namespace is missing, and 403 with a cause if it is being deleted', async () => {
    const api = new Api();
    const missing = await api.call('POST', '/api/v1/namespaces/nope/configmaps', configMap('a'));
    expect(missing.body.message).to.equal('namespaces "nope" not found');
    await api.create('/api/v1/namespaces', { metadata: { name: 'going' } });
    await api.call('DELETE', '/api/v1/namespaces/going');
    const refused = await api.call('POST', '/api/v1/namespaces/going/configmaps', configMap('a'));
    expect(refused.code).to.equal(403);
    expect(refused.body['details']).to.have.nested.property(
      'causes[0].reason',
      'NamespaceTerminating',
    );
  });

  it('generate unique names', async () => {
    const api = new Api();
    const body = { metadata: { generateName: 'web-' } };
    const names = [await api.create(configMaps, body), await api.create(configMaps, body)];
    for (const { metadata } of names) expect(metadata.name).to.match(/^web-[b-z2-9]{5}$/);
    expect(names[0]?.metadata.name).not.to.equal(names[1]?.metadata.name);
  });

  it('store nothing in a dry run, for any verb', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a', { x: '1' }));
    const version = api.server.resourceVersion;
    const results = [
      await api.call('POST', `${configMaps}?dryRun=All`, configMap('b')),
      await api.call('PUT', `${configMaps}/a?dryRun=All`, configMap('a', { x: '2' })),
      await api.call('PATCH', `${configMaps}/a?dryRun=All`, { data: { x: '2' } }, merge),
      await api.call(
        'PATCH',
        `${configMaps}/a?dryRun=All&fieldManager=m&force=true`,
        configMap('a', { x: '2' }),
        apply,
      ),
      await api.call('DELETE', `${configMaps}/a?dryRun=All`),
    ];
    expect(results.map(({ code }) => code)).to.deep.equal([201, 200, 200, 200, 200]);
    expect(results[1]?.body['data']).to.deep.equal({ x: '2' });
    expect(api.server.resourceVersion).to.equal(version);
  });

  it('accept a resourceVersion in a create only in a dry run', async () => {
    const api = new Api();
    const body = configMap('versioned', {}, { resourceVersion: '5' });
    const dry = await api.call('POST', `${configMaps}?dryRun=All`, body);
    expect(dry.code).to.equal(201);
    expect(dry.body.metadata.resourceVersion).to.equal('5');
    expect((await api.call('POST', configMaps, body)).code).to.equal(500);
  });

  it('approve a CertificateSigningRequest only through its conditions', async () => {
    const api = new Api();
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const signerName = 'example.com/signer';
    const pem = [
      '-----BEGIN CERTIFICATE REQUEST-----',
      'bWluZQ==',
      '-----END CERTIFICATE REQUEST-----',
    ];
    const request = Buffer.from(pem.join('\n')).toString('base64');
    const csr = await api.create(path, {
      ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
      metadata: { name: 'mine' },
      spec: { request, signerName, usages: ['digital signature'] },
    });
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Spec' }];
    const { code } = await api.call('PUT', `${path}/mine/approval`, {
      ...csr,
      spec: { ...(csr['spec'] as object), signerName: 'example.com/other' },
      status: { certificate: 'bWluZQ==', conditions },
    });
    expect(code).to.equal(200);
    const { body } = await api.get(`${path}/mine`);
    const time = '2026-01-01T00:00:00Z';
    const times = { lastUpdateTime: time, lastTransitionTime: time };
    expect(body['status']).to.deep.equal({ conditions: [{ ...conditions[0], ...times }] });
    expect(body['spec']).to.include({ signerName });
  });

  it('keep the resourceVersion if they change nothing', async () => {
    const api = new Api();
    const created = await api.create(deployments, deployment('web'));
    const { resourceVersion, generation } = created.metadata;
    for (const [method, body, type] of [
      ['PUT', created, 'application/json'],
      ['PATCH', { spec: { replicas: 1 } }, merge],
      [
        'PATCH',
        { spec: { template: { spec: { containers: [{ name: 'c', image: 'nginx' }] } } } },
        strategic,
      ],
      ['PATCH', [{ op: 'replace', path: '/spec/replicas', value: 1 }], jsonPatch],
    ] as const) {
      await api.clock.advance(5000);
      const { body: after } = await api.call(method, `${deployments}/web`, body, type);
      expect(after.metadata).to.include({ resourceVersion, generation });
    }
  });

  it('increment the generation with the spec, but not with labels or status', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web'));
    const path = `${deployments}/web`;
    const labels = await api.call('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge);
    const status = await api.call('PATCH', `${path}/status`, { status: { replicas: 1 } }, merge);
    const spec = await api.call('PATCH', path, { spec: { replicas: 3 } }, merge);
    const generations = [labels, status, spec].map(({ body }) => body.metadata.generation);
    expect(generations).to.deep.equal([1, 1, 2]);
  });

  it('keep status and spec separate', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web', { replicas: 2 }));
    const path = `${deployments}/web`;
    const patch = { spec: { replicas: 7 }, status: { replicas: 5 } };
    const main = await api.call('PATCH', path, patch, merge);
    expect([main.body['spec'], main.body['status']]).to.containSubset([{ replicas: 7 }, {}]);
    const sub = await api.call(
      'PATCH',
      `${path}/status`,
      { ...patch, spec: { replicas: 9 } },
      merge,
    );
    expect([sub.body['spec'], sub.body['status']]).to.containSubset([
      { replicas: 7 },
      { replicas: 5 },
    ]);
  });

  it('answer 409 to a stale resourceVersion, and accept the current resourceVersion or none', async () => {
    const api = new Api();
    const created = await api.create(configMaps, configMap('a'));
    await api.call('PATCH', `${configMaps}/a`, { data: { x: '1' } }, merge);
    const stale = await api.call('PUT', `${configMaps}/a`, created);
    expect(stale.body['reason']).to.equal('Conflict');
    expect((await api.call('PUT', `${configMaps}/a`, configMap('a'))).code).to.equal(200);
  });

  it('answer 409 for PUT and 422 for patches to a different uid', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const body = configMap('a', {}, { uid: 'other' });
    const codes = [
      await api.call('PUT', `${configMaps}/a`, body),
      await api.call('PATCH', `${configMaps}/a`, body, merge),
      await api.call('PATCH', `${configMaps}/a?fieldManager=m`, body, apply),
      await api.call(
        'PATCH',
        `${configMaps}/gone?fieldManager=m`,
        configMap('gone', {}, { uid: 'x' }),
        apply,
      ),
    ].map(({ code }) => code);
    expect(codes).to.deep.equal([409, 422, 422, 409]);
  });

  it('create, update, conflict, take over fields by force and remove fields that an apply omits', async () => {
    const api = new Api();
    const path = `${configMaps}/a`;
    const created = await api.call(
      'PATCH',
      `${path}?fieldManager=one`,
      configMap('a', { x: '1', y: '1' }),
      apply,
    );
    expect(created.code).to.equal(201);
    const conflict = await api.call(
      'PATCH',
      `${path}?fieldManager=two`,
      configMap('a', { x: '2' }),
      apply,
    );
    expect(conflict.body.message).to.equal(
      'Apply failed with 1 conflict: conflict with "one": .data.x',
    );
    const forced = await api.call(
      'PATCH',
      `${path}?fieldManager=two&force=true`,
      configMap('a', { x: '2' }),
      apply,
    );
    expect(forced.body['data']).to.deep.equal({ x: '2', y: '1' });
    const dropped = await api.call('PATCH', `${path}?fieldManager=one`, configMap('a'), apply);
    expect(dropped.body['data']).to.deep.equal({ x: '2' });
  });

  it('warn about unknown and duplicate fields, refuse them or ignore them, as fieldValidation says', async () => {
    const api = new Api();
    const text = '{"metadata":{"name":"a"},"data":{"x":"1","x":"2"},"foo":1}';
    const warned = await api.call('POST', configMaps, text);
    expect(warned.headers['warning']).to.equal(
      '299 - "duplicate field \\"data.x\\"", 299 - "unknown field \\"foo\\""',
    );
    const strict = await api.call('POST', `${configMaps}?fieldValidation=Strict`, text);
    expect(strict.body.message).to.contain(
      'strict decoding error: duplicate field "data.x", unknown field "foo"',
    );
    const ignored = await api.call('PUT', `${configMaps}/a?fieldValidation=Ignore`, text);
    expect(ignored.headers).not.to.have.property('warning');
  });

  it('name at most a hundred unknown and duplicate fields, each only once', async () => {
    const api = new Api();
    const unknown = Array.from({ length: 120 }, (_, n) => `"f${n}":1`).join(',');
    const text = `{"metadata":{"name":"a"},"data":{"x":"1","x":"2","x":"3"},${unknown}}`;
    const { body } = await api.call('POST', `${configMaps}?fieldValidation=Strict`, text);
    const [, problems = ''] = body.message.split('strict decoding error: ');
    const named = [
      'duplicate field "data.x"',
      ...Array.from({ length: 99 }, (_, n) => `unknown field "f${n}"`),
    ];
    expect(problems.split(', ')).to.deep.equal(named);
  });

  it('answer 200 to a strategic merge patch of built-in kinds', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web'));
    const patch = { spec: { template: { spec: { containers: [{ name: 'side', image: 'x' }] } } } };
    const { body } = await api.call('PATCH', `${deployments}/web`, patch, strategic);
    expect(body['spec']).to.have.nested.property('template.spec.containers').with.length(2);
  });

  it('ignore a namespace in the metadata of a cluster-scoped object', async () => {
    const api = new Api();
    const metadata = { name: 'a', namespace: 'elsewhere' };
    const created = await api.create('/api/v1/nodes', { metadata });
    expect(created.metadata).not.to.have.property('namespace');
    const { code } = await api.call('PUT', '/api/v1/nodes/a', { metadata });
    expect(code).to.equal(200);
  });

  it('return the result of a dry run in the version of the request', async () => {
    const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers?dryRun=All';
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
    const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 };
    const shown = await new Api().create(path, { metadata: { name: 'a' }, spec });
    expect(shown).to.have.nested.property('spec.targetCPUUtilizationPercentage', 50);
  });

  it('refuse a status of a Deployment that has more ready replicas than replicas', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web'));
    const status = { replicas: 1, readyReplicas: 2, availableReplicas: 3 };
    const answer = await api.call('PATCH', `${deployments}/web/status`, { status }, merge);
    expect(causeFields(answer)).to.deep.equal([
      'status.readyReplicas',
      'status.availableReplicas',
      'status.availableReplicas',
    ]);
  });

  it('count missing replicas in a status as 0, and refuse a lower collisionCount than before', async () => {
    const api = new Api();
    await api.create(deployments, deployment('web'));
    const send = (status: object) =>
      api.call('PATCH', `${deployments}/web/status`, { status }, merge);
    expect(causeFields(await send({ replicas: -1 }))).to.deep.equal([
      ...['status.replicas', 'status.updatedReplicas', 'status.readyReplicas'],
      'status.availableReplicas',
    ]);
    expect((await send({ collisionCount: 2 })).code).to.equal(200);
    for (const collisionCount of [1, null]) {
      expect(causeFields(await send({ collisionCount }))).to.deep.equal(['status.collisionCount']);
    }
  });

  it('check the exceptions of an ipBlock even if its cidr is invalid', async () => {
    const path = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
    const ipBlock = { cidr: '010.0.0.1/8', except: ['11.0.0.0/16', '10.1.0.0/016', 'x'] };
    const spec = { podSelector: {}, ingress: [{ from: [{ ipBlock }] }] };
    const answer = await new Api().call('POST', path, { metadata: { name: 'a' }, spec });
    const field = 'spec.ingress[0].from[0].ipBlock';
    expect(causeFields(answer)).to.deep.equal([
      ...[`${field}.cidr`, `${field}.except[0]`, `${field}.except[1]`, `${field}.except[2]`],
    ]);
  });
});
