import { expect } from 'chai';
import { isReconcileFailed } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { Fault } from '../../../lib/client/index.js';
import { ConfigMap, Service } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { podSpec, refusal, summary } from './scene.js';

/** Specs about failures of the server in the middle of a reconcile: typed errors, after which the work is completed. */
export function serverFailuresSuite(open: OpenScene): void {
  const ports = [{ port: 80 }];

  const faults: readonly [string, Fault, string, boolean][] = [
    ['answers 403', { type: 'error', status: 403, reason: 'Forbidden' }, 'ApiError', false],
    ['answers 500', { type: 'error', status: 500, reason: 'InternalError' }, 'ApiError', false],
    ['drops the connection', { type: 'reset' }, 'ConnectionFailed', false],
    ['does not respond', { type: 'timeout' }, 'Timeout', false],
  ];
  for (const [title, fault, code, terminal] of faults) {
    it(`the builder throws a typed error that names the object if the server ${title}, and recovers afterwards`, async () => {
      const scene = await open();
      const chain = (client = scene.operator.client): Builder =>
        scene
          .builder({ client })
          .configMap({ name: 'env', data: { A: '1' } })
          .service({ name: 'web', spec: { ports } })
          .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });
      const rules = [{ fault, verbs: ['apply' as const], kinds: ['ConfigMap'] }];
      const broken = chain(faulty(scene.operator.client, { rules }));
      const error = await refusal(() => broken.reconcile());
      if (!isReconcileFailed(error)) throw error;
      expect(error.errors.map((one) => one.code)).to.deep.equal([code, 'DependencyFailed']);
      expect(error.errors[0]?.message).to.include('ConfigMap').and.to.include('env');
      expect(error.terminal).to.equal(terminal);
      expect(summary(error.results)).to.deep.equal(['created Service/web']);
      await scene.reconcileUntilDone(chain);
      expect(await scene.find(Service, 'web')).not.to.equal(undefined);
    });
  }

  const later: readonly [string, 400 | 403 | 422, string][] = [
    ['a webhook refuses', 400, 'admission webhook "hosts.example.com" denied the request: taken'],
    ['a webhook calls invalid', 422, 'admission webhook "v.example.com" denied the request: no'],
    [
      'a policy refuses',
      422,
      `configmaps "env" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`,
    ],
    [
      'needs a port of another Service',
      422,
      'spec.ports[0].nodePort: Invalid value: 30100: provided port is already allocated',
    ],
  ];
  for (const [title, status, message] of later) {
    it(`the builder does not report the failure as terminal if the request failed for an object that ${title}`, async () => {
      const scene = await open();
      const reason = status === 422 ? 'Invalid' : 'BadRequest';
      const fault = { type: 'error', status, reason, message } as const;
      const client = faulty(scene.operator.client, { rules: [{ fault, verbs: ['apply'] }] });
      const chain = scene.builder({ client }).configMap({ name: 'env' });
      const error = await refusal(() => chain.reconcile());
      if (!isReconcileFailed(error)) throw error;
      expect(error.terminal).to.equal(false);
      expect(error.message).to.include(message).and.not.to.include('correct the desired object');
    });
  }

  it('the builder reports an object as unchanged in the next reconcile if the response to its write was lost', async () => {
    const scene = await open();
    const fault = { type: 'reset' } as const;
    const rules = [{ fault, verbs: ['apply' as const], when: 'after' as const, calls: 1 }];
    const client = faulty(scene.operator.client, { rules });
    const chain = (): Builder => scene.builder({ client }).configMap({ name: 'env' });
    await refusal(() => chain().reconcile());
    expect(summary(await chain().reconcile())).to.deep.equal(['unchanged ConfigMap/env']);
  });

  it('the builder reads and writes again after a conflict, without a warning', async () => {
    const scene = await open();
    await scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .reconcile();
    scene.events.length = 0;
    const fault = { type: 'error', status: 409, reason: 'Conflict' } as const;
    const client = faulty(scene.operator.client, {
      rules: [{ fault, verbs: ['apply'], calls: 1 }],
    });
    const results = await scene
      .builder({ client })
      .configMap({ name: 'env', data: { A: '2' } })
      .reconcile();
    expect(summary(results)).to.deep.equal(['configured ConfigMap/env']);
    expect(scene.events.map(({ type }) => type)).to.deep.equal(['Normal']);
  });

  it('the builder returns a pending result without an error or event while the namespace is being deleted', async () => {
    const scene = await open();
    const { namespace } = scene;
    const finalizers = ['example.com/held'];
    await scene.admin.create<ConfigMap>({
      ...{
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name: 'held', finalizers },
      },
    });
    await scene.admin.delete({ apiVersion: 'v1', kind: 'Namespace' }, { name: namespace });
    const results = await scene.builder().secret({ name: 'token' }).reconcile();
    expect(summary(results)).to.deep.equal(['pending Secret/token']);
    expect(results[0]?.reason).to.include('namespace is being deleted');
    expect(scene.events).to.deep.equal([]);
    await scene.edit(ConfigMap, 'held', { body: { metadata: { finalizers: null } } });
  });

  it('the builder creates nothing if its signal is already aborted', async () => {
    const scene = await open();
    const signal = AbortSignal.abort();
    const chain = scene.builder({ signal }).configMap({ name: 'env' });
    const error = await refusal(() => chain.reconcile());
    expect(error.code).to.equal('Aborted');
    expect(await scene.find(ConfigMap, 'env')).to.equal(undefined);
  });
}
