import { expect } from 'chai';
import { apply, deployment, deployments, merge } from '../api.js';
import { WebhookApi, patching, rule } from './webhook-api.js';

describe('admission webhooks of subresources', () => {
  it('receive the options of bindings, evictions and requests for tokens', async () => {
    const hooks = new WebhookApi();
    const { api } = hooks;
    const [pods, accounts] = ['pods', 'serviceaccounts'].map(
      (plural) => `/api/v1/namespaces/default/${plural}`,
    );
    const spec = { containers: [{ name: 'web', image: 'web:1' }] };
    for (const name of ['a', 'b']) await api.create(pods ?? '', { metadata: { name }, spec });
    await api.create(accounts ?? '', { metadata: { name: 'own' } });
    const resources = ['pods/binding', 'bindings', 'pods/eviction', 'serviceaccounts/token'];
    await hooks.configure('Validating', { rules: [rule({ resources })] });
    const query = 'fieldManager=me&fieldValidation=Strict&dryRun=All';
    const target = { kind: 'Node', name: 'node' };
    for (const [path, body] of [
      [`${pods}/a/binding`, { metadata: { name: 'a' }, target }],
      ['/api/v1/namespaces/default/bindings', { metadata: { name: 'b' }, target }],
      [`${pods}/a/eviction`, { metadata: { name: 'a' }, apiVersion: 'policy/v1' }],
      [`${accounts}/own/token`, { apiVersion: 'authentication.k8s.io/v1', spec: {} }],
    ] as const) {
      await api.call('POST', `${path}?${query}`, body);
      const { dryRun, options } = hooks.reviews.pop() ?? {};
      expect({ dryRun, options }).to.deep.equal({
        dryRun: true,
        options: {
          ...{ kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', dryRun: ['All'] },
          ...{ fieldManager: 'me', fieldValidation: 'Strict' },
        },
      });
    }
  });

  it('receive the options of a connection to a pod, and can deny the connection or change the options', async () => {
    const hooks = new WebhookApi();
    const pods = '/api/v1/namespaces/default/pods';
    const containers = [{ name: 'main', image: 'db:1' }];
    await hooks.api.create(pods, { metadata: { name: 'db' }, spec: { containers } });
    const resources = ['pods/exec', 'pods/attach', 'pods/portforward'];
    const rules = [rule({ resources, operations: ['CONNECT'] })];
    await hooks.configure('Mutating', { rules });
    await hooks.configure(
      'Validating',
      { rules },
      { rules, objectSelector: { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] } },
    );
    hooks.answer = ({ subResource }) =>
      subResource === 'exec'
        ? patching({ op: 'replace', path: '/command', value: ['true'] })
        : { allowed: false, status: { code: 403, message: 'no' } };
    const exec = '/exec?command=ls&command=-l&container=main&stdout=1&stdin=false&tty';
    await hooks.api.call('POST', `${pods}/db${exec}`);
    const options = { kind: 'PodExecOptions', apiVersion: 'v1', container: 'main' };
    const streams = { stdout: true, tty: true };
    const [mutating, validating, ...more] = hooks.reviews.splice(0);
    expect(mutating).to.deep.include({
      ...{ operation: 'CONNECT', namespace: 'default', name: 'db', subResource: 'exec' },
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      object: { ...options, ...streams, command: ['ls', '-l'] },
      ...{ oldObject: null, options: null, dryRun: false },
    });
    expect(validating?.object).to.deep.equal({ ...options, ...streams, command: ['true'] });
    expect(more).to.deep.equal([]);
    for (const [subresource, object] of [
      ['attach', { kind: 'PodAttachOptions', apiVersion: 'v1' }],
      [
        'portforward?ports=80,81',
        { kind: 'PodPortForwardOptions', apiVersion: 'v1', ports: [80, 81] },
      ],
    ] as const) {
      const { code } = await hooks.api.call('POST', `${pods}/db/${subresource}`);
      expect(code).to.equal(403);
      expect(hooks.reviews.splice(0).map((each) => each.object)).to.deep.equal([object]);
    }
    hooks.answer = () => ({ allowed: true });
    expect((await hooks.api.call('POST', `${pods}/db/attach`)).code).to.equal(405);
  });

  for (const [verb, type] of [
    ['PUT', undefined],
    ['PATCH', merge],
  ] as const) {
    it(`mutate the Scale of a ${verb} after its field managers are recorded, and validate the Scale of the changed object`, async () => {
      const hooks = new WebhookApi();
      const { api } = hooks;
      const web = deployment('web', { replicas: 3 });
      const { metadata } = await api.create(`${deployments}?fieldManager=creator`, web);
      const rules = [rule({ apiGroups: ['apps'], resources: ['deployments/scale'] })];
      await hooks.configure('Mutating', { rules });
      await hooks.configure('Validating', { rules });
      const change = patching({ op: 'replace', path: '/spec/replicas', value: 5 });
      hooks.answer = () => (hooks.reviews.length === 1 ? change : { allowed: true });
      const scale = { metadata: { name: 'web', uid: metadata.uid }, spec: { replicas: 3 } };
      const path = `${deployments}/web/scale?fieldManager=scaler`;
      const { body } = await api.call(verb, path, scale, type);
      expect(body['spec']).to.deep.equal({ replicas: 5 });
      const [mutating, validating] = hooks.reviews;
      expect(mutating?.options).to.include({ kind: 'UpdateOptions', fieldManager: 'scaler' });
      expect(mutating?.object?.['spec']).to.deep.equal({ replicas: 3 });
      expect(mutating?.object?.metadata).to.include({ name: 'web', namespace: 'default' });
      const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
      expect(validating?.object).to.deep.equal({
        ...{ apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 5 } },
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        status: { replicas: 0, selector: 'app=web' },
      });
      const { managedFields } = (await api.get(`${deployments}/web`)).body.metadata;
      expect(managedFields?.map(({ manager }) => manager)).not.to.include('scaler');
    });
  }

  it('receive the Scale with its metadata although an apply sends it without', async () => {
    const hooks = new WebhookApi();
    await hooks.api.create(deployments, deployment('web'));
    const rules = [rule({ apiGroups: ['apps'], resources: ['deployments/scale'] })];
    await hooks.configure('Validating', { rules });
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 3 } };
    const path = `${deployments}/web/scale?fieldManager=m&force=true`;
    const { body } = await hooks.api.call('PATCH', path, scale, apply);
    expect(body['spec']).to.deep.equal({ replicas: 3 });
    expect(hooks.reviews[0]?.object).to.deep.include({ spec: { replicas: 3 } });
    expect(hooks.reviews[0]?.object?.metadata.name).to.equal('web');
  });

  it('receive the name of the subresource, and no subresource in requests for the object itself', async () => {
    const hooks = new WebhookApi();
    await hooks.api.create(deployments, deployment('web'));
    const resources = ['deployments', 'deployments/scale'];
    await hooks.configure('Validating', { rules: [rule({ apiGroups: ['apps'], resources })] });
    const scale = { spec: { replicas: 3 } };
    await hooks.api.call('PATCH', `${deployments}/web/scale`, scale, merge);
    await hooks.api.call('PATCH', `${deployments}/web`, scale, merge);
    const [ofScale, ofObject] = hooks.reviews;
    expect(ofScale).to.include({ subResource: 'scale', requestSubResource: 'scale' });
    expect(ofObject).not.to.have.any.keys('subResource', 'requestSubResource');
  });
});
