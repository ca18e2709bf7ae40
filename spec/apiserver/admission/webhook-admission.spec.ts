import { expect } from 'chai';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  createAuthority,
  issueCertificate,
  systemClock,
  systemRandom,
} from '../../../lib/system/index.js';
import { configMap, configMaps, merge } from '../api.js';
import { WebhookApi, everyConfigMap, patching, responseOf, rule } from './webhook-api.js';
import type { Review } from './webhook-api.js';
import { Api } from '../api.js';

/** Makes the webhook allow a write only once `finish` is called; `calls` resolves when the webhook is called. */
function held(hooks: WebhookApi): { readonly calls: Promise<void>; readonly finish: () => void } {
  let [called, finish] = [(): void => undefined, (): void => undefined];
  const calls = new Promise<void>((resolve) => (called = resolve));
  const finished = new Promise<void>((resolve) => (finish = resolve));
  hooks.answer = async () => {
    called();
    await finished;
    return { allowed: true };
  };
  return { calls, finish };
}

describe('admission webhooks', () => {
  it('receive a create: mutating webhooks before the name is generated, validating webhooks after', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Mutating', {});
    await hooks.configure('Validating', {});
    const body = { metadata: { generateName: 'a-' }, data: { k: 'v' } };
    const made = await hooks.api.create(`${configMaps}?fieldManager=me`, body);
    const [mutating, validating] = hooks.reviews;
    expect(mutating).to.deep.include({ operation: 'CREATE', namespace: 'default', dryRun: false });
    expect(mutating?.object?.metadata).to.not.have.any.keys('name', 'uid');
    expect(mutating?.oldObject).to.equal(null);
    expect(mutating?.options).to.deep.equal({
      kind: 'CreateOptions',
      apiVersion: 'meta.k8s.io/v1',
      fieldManager: 'me',
    });
    expect(validating?.object?.metadata.uid).to.equal(made.metadata.uid);
    expect(validating?.object?.metadata.name).to.equal(made.metadata.name);
    expect(hooks.reviews).to.have.length(2);
  });

  it('receive updates, patches and deletions with the old object', async () => {
    const hooks = new WebhookApi();
    await hooks.api.create(configMaps, configMap('a', { k: '1' }));
    await hooks.configure('Validating', {});
    await hooks.api.call('PATCH', `${configMaps}/a`, { data: { k: '2' } }, merge);
    await hooks.api.call('DELETE', `${configMaps}/a`);
    const shown = hooks.reviews.map(({ operation, object, oldObject, name }) => [
      operation,
      name,
      oldObject?.['data'],
      object?.['data'],
    ]);
    expect(shown).to.deep.equal([
      ['UPDATE', 'a', { k: '1' }, { k: '2' }],
      ['DELETE', 'a', { k: '2' }, undefined],
    ]);
  });

  it('mutate the object in sequence, and add warnings', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Mutating', {}, {});
    hooks.answer = ({ object }) => {
      const { data } = object as unknown as { data: { k: string } };
      const value = `${data.k}+`;
      return {
        ...patching({ op: 'replace', path: '/data/k', value }),
        warnings: [`saw ${data.k}`],
      };
    };
    const answer = await hooks.api.call('POST', configMaps, configMap('a', { k: 'v' }));
    expect(answer.body['data']).to.deep.equal({ k: 'v++' });
    expect(answer.headers['warning']).to.equal('299 - "saw v", 299 - "saw v+"');
  });

  it('are reinvoked with the policy IfNeeded if a later webhook has changed the object', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Mutating', { reinvocationPolicy: 'IfNeeded' }, {});
    const paths: unknown[] = [];
    hooks.answer = (review) => {
      const { path } = review as unknown as { path: string };
      paths.push(path);
      if (path.startsWith('/0')) return { allowed: true };
      return patching({ op: 'add', path: '/data', value: { by: 'one' } });
    };
    await hooks.api.create(configMaps, configMap('a'));
    expect(paths).to.deep.equal(['/0?timeout=10s', '/1?timeout=10s', '/0?timeout=10s']);
  });

  it('are reinvoked if an earlier webhook changes the object in its own reinvocation', async () => {
    const hooks = new WebhookApi();
    const reinvoked = { reinvocationPolicy: 'IfNeeded' };
    await hooks.configure('Mutating', reinvoked, {}, reinvoked);
    const paths: unknown[] = [];
    hooks.answer = (review) => {
      const { path } = review as unknown as { path: string };
      const { k = '' } = review.object?.['data'] as { k?: string };
      paths.push(path[1]);
      return patching({ op: 'replace', path: '/data/k', value: `${k}${path[1]}` });
    };
    const made = await hooks.api.create(configMaps, configMap('a', { k: '' }));
    expect(made['data']).to.deep.equal({ k: '01202' });
    expect(paths.join('')).to.equal('01202');
  });

  it('are called again with the policy IfNeeded if they add a container that a LimitRange then completes', async () => {
    const hooks = new WebhookApi();
    const limits = [{ type: 'Container', default: { cpu: '1' } }];
    await hooks.api.create('/api/v1/namespaces/default/limitranges', {
      ...{ metadata: { name: 'l' }, spec: { limits } },
    });
    const rules = [rule({ resources: ['pods'] })];
    await hooks.configure('Mutating', { rules, reinvocationPolicy: 'IfNeeded' });
    const names: unknown[] = [];
    const sidecar = { op: 'add', path: '/spec/containers/-', value: { name: 'side', image: 'i' } };
    hooks.answer = ({ object }) => {
      const { containers } = object?.['spec'] as { containers: { name: string }[] };
      names.push(containers.map(({ name }) => name));
      return containers.length > 1 ? { allowed: true } : patching(sidecar);
    };
    const { spec, metadata } = await hooks.api.create('/api/v1/namespaces/default/pods', {
      ...{ metadata: { name: 'p' }, spec: { containers: [{ name: 'main', image: 'i' }] } },
    });
    const resources = { limits: { cpu: '1' }, requests: { cpu: '1' } };
    const { containers } = spec as { containers: { resources: object }[] };
    expect(containers.map((one) => one.resources)).to.deep.equal([resources, resources]);
    expect(metadata.annotations).to.deep.equal({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container side; cpu limit for container side',
    });
    expect(names).to.deep.equal([['main'], ['main', 'side']]);
  });

  it('cause no Warning header for an empty warning', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Validating', {});
    hooks.answer = () => ({ allowed: true, warnings: ['', 'one'] });
    const { headers } = await hooks.api.call('POST', configMaps, configMap('a'));
    expect(headers['warning']).to.equal('299 - "one"');
  });

  it('cannot set invalid managedFields, which only cause a warning', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Mutating', {});
    const entry = { manager: 'm', operation: 'Merge', apiVersion: 'v1', fieldsType: 'FieldsV1' };
    hooks.answer = () =>
      patching(
        { op: 'add', path: '/metadata/managedFields', value: [{ ...entry, fieldsV1: {} }] },
        { op: 'add', path: '/data/more', value: 'x' },
      );
    const { body, headers } = await hooks.api.call('POST', configMaps, configMap('a', { k: 'v' }));
    expect(body['data']).to.deep.equal({ k: 'v', more: 'x' });
    expect(body.metadata.managedFields?.map(({ manager }) => manager)).to.deep.equal(['spec']);
    expect(headers['warning']).to.equal(
      '299 - ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`"',
    );
  });

  it('are selected by rules, scope, selectors and match policy', async () => {
    const hooks = new WebhookApi();
    const { api } = hooks;
    await api.create('/api/v1/namespaces', {
      metadata: { name: 'in', labels: { watched: 'yes' } },
    });
    const deployments = ['apps'];
    await hooks.configure(
      'Validating',
      { name: 'ns.acme.com', namespaceSelector: { matchLabels: { watched: 'yes' } } },
      { name: 'obj.acme.com', objectSelector: { matchLabels: { a: 'b' } } },
      { name: 'cluster.acme.com', rules: [rule({ scope: 'Cluster' })] },
      { name: 'status.acme.com', rules: [rule({ resources: ['configmaps/status'] })] },
      { name: 'update.acme.com', rules: [rule({ operations: ['UPDATE'] })] },
      { name: 'other.acme.com', rules: [rule({ apiGroups: deployments, resources: ['*'] })] },
    );
    const called = async (path: string, body: object): Promise<unknown[]> => {
      const names: string[] = [];
      hooks.answer = (review) => {
        names.push((review as unknown as { path: string }).path);
        return { allowed: true };
      };
      await api.create(path, body);
      return names.map((path) => Number(path.slice(1, 2)));
    };
    expect(await called(configMaps, configMap('a'))).to.deep.equal([]);
    expect(await called('/api/v1/namespaces/in/configmaps', configMap('a'))).to.deep.equal([0]);
    const labels = { labels: { a: 'b' } };
    expect(await called(configMaps, configMap('b', {}, labels))).to.deep.equal([1]);
  });

  it('are selected by the labels of the Namespace itself if a write is for a Namespace', async () => {
    const hooks = new WebhookApi();
    const namespaces = '/api/v1/namespaces';
    await hooks.configure('Validating', {
      rules: [rule({ resources: ['namespaces'], scope: 'Cluster' })],
      namespaceSelector: { matchLabels: { watched: 'yes' } },
    });
    const names = async (verb: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => {
      const { code } = await hooks.api.call(verb, path, body, verb === 'PATCH' ? merge : undefined);
      expect(code).to.be.oneOf([200, 201]);
      return hooks.reviews.splice(0).map(({ operation, name }) => `${operation} ${name ?? ''}`);
    };
    const watched = { metadata: { labels: { watched: 'yes' } } };
    const found = [
      await names('POST', namespaces, { metadata: { name: 'a' } }),
      await names('POST', namespaces, { metadata: { name: 'b', ...watched.metadata } }),
      await names('PATCH', `${namespaces}/a`, watched),
      await names('PATCH', `${namespaces}/a`, { metadata: { labels: { watched: null } } }),
      await names('DELETE', `${namespaces}/a`),
      await names('DELETE', `${namespaces}/b`),
    ];
    expect(found).to.deep.equal([[], ['CREATE b'], ['UPDATE a'], [], [], ['DELETE b']]);
  });

  it('receive the version of their rule for a kind served in several versions', async () => {
    const hooks = new WebhookApi();
    const rules = [
      rule({
        apiGroups: ['autoscaling'],
        apiVersions: ['v2'],
        resources: ['horizontalpodautoscalers'],
      }),
    ];
    await hooks.configure('Validating', { rules }, { rules, matchPolicy: 'Exact' });
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      maxReplicas: 3,
    };
    const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
    await hooks.api.create(path, { metadata: { name: 'a' }, spec });
    expect(hooks.reviews).to.have.length(1);
    const [{ kind, requestKind, object } = {} as never] = hooks.reviews;
    expect([kind.version, requestKind.version, object?.apiVersion]).to.deep.equal([
      'v2',
      'v1',
      'autoscaling/v2',
    ]);
  });

  it('block the write when they fail, unless their failurePolicy is Ignore', async () => {
    const answers = { 'default/hook': () => Promise.resolve(responseOf(500, 'boom')) };
    const api = new Api({ services: answers });
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    await api.create(path, { metadata: { name: 'c' }, webhooks: [everyConfigMap(0)] });
    const refused = await api.call('POST', configMaps, configMap('a'));
    expect(refused.code).to.equal(500);
    expect(refused.body.message).to.equal(
      'Internal error occurred: failed calling webhook "hook-0.acme.com": failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    );
    await api.call(
      'PATCH',
      `${path}/c`,
      [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }],
      'application/json-patch+json',
    );
    await api.create(configMaps, configMap('a'));
  });

  it('are skipped for users whose rights a match condition checks', async () => {
    const hooks = new WebhookApi();
    const condition = (verb: string, rights: string): object => ({
      name: `${verb}.acme.com`,
      matchConditions: [
        { name: 'user', expression: `!authorizer${rights}.check('${verb}').allowed()` },
      ],
    });
    await hooks.configure(
      'Validating',
      condition('create', '.requestResource'),
      condition('use', ".group('acme.com').resource('doors')"),
    );
    await hooks.api.create(configMaps, configMap('a'));
    // Without RBAC, every user has all rights.
    expect(hooks.reviews).to.deep.equal([]);
  });

  it('fail the write if their function in this process does not return in time, or if the server stops', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Validating', { timeoutSeconds: 2 });
    const { api } = hooks;
    const failing = async (end: () => Promise<void>): Promise<string> => {
      const { calls } = held(hooks);
      const answer = api.call('POST', configMaps, configMap('a'));
      await calls;
      await end();
      const { code, body } = await answer;
      expect(code).to.equal(500);
      return body.message;
    };
    const post = 'failed to call webhook: Post "https://hook.default.svc:443/0?timeout=2s": ';
    expect(await failing(() => api.clock.advance(2_000))).to.contain(
      `${post}context deadline exceeded`,
    );
    expect(await failing(() => api.server.stop())).to.contain(`${post}the embedded API server`);
  });

  it('cannot move an object to another namespace', async () => {
    const hooks = new WebhookApi();
    const { api } = hooks;
    await api.create('/api/v1/namespaces', { metadata: { name: 'other' } });
    await api.create(configMaps, configMap('b'));
    await hooks.configure('Mutating', {});
    const operation = (value: string) => ({ op: 'replace', path: '/metadata/namespace', value });
    hooks.answer = () => patching(operation('other'));
    for (const [method, path, name] of [
      ['POST', configMaps, 'a'],
      ['PUT', `${configMaps}/b`, 'b'],
    ] as const) {
      const { code, body } = await api.call(method, path, configMap(name));
      expect([code, body.message]).to.deep.equal([
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ]);
    }
    hooks.answer = () => patching(operation(''));
    expect((await api.create(configMaps, configMap('a'))).metadata.namespace).to.equal('default');
  });

  it('change nothing with a patch that is null, and their warnings with line breaks are dropped', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Mutating', {});
    const patch = Buffer.from('null').toString('base64');
    const warnings = ['one\ntwo', 'three'];
    hooks.answer = () => ({ allowed: true, patchType: 'JSONPatch', patch, warnings });
    const { code, headers } = await hooks.api.call('POST', configMaps, configMap('a'));
    expect([code, headers['warning']]).to.deep.equal([201, '299 - "three"']);
  });

  it('do not time out because a virtual clock advances while they work', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Validating', { timeoutSeconds: 2 });
    const { calls, finish } = held(hooks);
    const answer = hooks.api.call('POST', configMaps, configMap('a'));
    await calls;
    await hooks.api.clock.advance(60_000);
    finish();
    expect((await answer).code).to.equal(201);
  });

  it('are called at the normalized path of their URL, and accept the server certificate itself as caBundle', async () => {
    const now = systemClock.now();
    const validity = { fromMs: now - 60_000, untilMs: now + 3_600_000 };
    const options = { random: systemRandom, validity };
    const authority = await createAuthority('unknown to the server', options);
    const own = await issueCertificate(authority, ['127.0.0.1'], options);
    const files = { cert: own.certificate, key: own.privateKey };
    const server = createServer(files, (incoming, outgoing) => {
      void json(incoming).then((review) => {
        const { request, ...type } = review as { readonly request: Review };
        const { accept, 'content-type': contentType, 'user-agent': agent } = incoming.headers;
        const status = { message: [incoming.url, accept, contentType, agent].join(' ') };
        const response = { uid: request.uid, allowed: false, status };
        outgoing.end(JSON.stringify({ ...type, response }));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const url = `https://127.0.0.1:${port}//a/../deny/`;
      const caBundle = Buffer.from(own.certificate).toString('base64');
      const hooks = new WebhookApi();
      await hooks.configure('Validating', { clientConfig: { url, caBundle } });
      const { body } = await hooks.api.call('POST', configMaps, configMap('a'));
      const message =
        'admission webhook "hook-0.acme.com" denied the request: /deny?timeout=10s application/json application/json kube-apiserver-admission';
      expect(body).to.deep.include({ message });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('are called in a dry run with dryRun set', async () => {
    const hooks = new WebhookApi();
    await hooks.configure('Validating', { sideEffects: 'NoneOnDryRun' }, {});
    await hooks.api.call('POST', `${configMaps}?dryRun=All`, configMap('a'));
    await hooks.api.call('POST', configMaps, configMap('a'));
    expect(hooks.reviews.map(({ dryRun }) => dryRun)).to.deep.equal([true, true, false, false]);
  });

  it('do not cause a write to overwrite a change that was stored during their call', async () => {
    const hooks = new WebhookApi();
    await hooks.api.create(configMaps, configMap('a', { k: '1' }));
    await hooks.configure('Validating', { rules: [rule({ operations: ['UPDATE'] })] });
    let meddled = false;
    hooks.answer = async () => {
      if (!meddled) {
        meddled = true;
        await hooks.api.call('PATCH', `${configMaps}/a`, { data: { other: 'x' } }, merge);
      }
      return { allowed: true };
    };
    const answer = await hooks.api.call('PATCH', `${configMaps}/a`, { data: { k: '2' } }, merge);
    expect(answer.body['data']).to.deep.equal({ k: '2', other: 'x' });
  });

  it('cannot block changes of their own configuration', async () => {
    const hooks = new WebhookApi();
    const rules = [rule({ apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] })];
    await hooks.configure('Validating', { rules });
    hooks.answer = () => ({ allowed: false });
    const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/c0';
    expect((await hooks.api.call('DELETE', path)).code).to.equal(200);
  });

  it('are called for each object of a deleted collection', async () => {
    const hooks = new WebhookApi();
    for (const name of ['a', 'b', 'c']) await hooks.api.create(configMaps, configMap(name));
    await hooks.configure('Validating', {});
    const answer = await hooks.api.call('DELETE', configMaps);
    expect(answer.body.items.map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b', 'c']);
    expect(hooks.reviews.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
    expect((await hooks.api.get(configMaps)).body.items).to.deep.equal([]);
  });
});
