import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { ApiError } from '../../../lib/object/api-error.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { deployment, nowhere, system } from './system.js';
import type { Config, OpenStage } from './stage.js';

/** Declares health checks of a deployed system, hooks, and users' fields in the status. */
export function watchingOverSuite(open: OpenStage): void {
  const broken = { pod: nowhere, image: 'nginx:2' };

  it('a configuration stays in phase Deployed when degraded, and names the failed workload until it recovers', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.resources = () => system(stage.namespace, broken);
    await stage.pass('1.0.0');
    const seen = await stage.pass('1.0.0');
    expect(seen).to.include({
      ...{ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' },
      conditions: 'T/F/T DeployCompleted DeploymentNotReady',
    });
    const degraded = (await stage.status()).conditions?.find(({ type }) => type === 'Degraded');
    expect(degraded?.message).to.match(/^Deployment .*\/web: /);
    stage.resources = () => system(stage.namespace);
    await stage.pass('1.0.0');
    await stage.rolledOut();
    expect(await stage.pass('1.0.0')).to.include({ conditions: 'T/F/F DeployCompleted' });
  });

  it('the reconciler reports why the rollout of a Deployment is stuck', async () => {
    const stage = await open();
    stage.resources = () => [
      deployment(stage.namespace, { ...broken, progressDeadlineSeconds: 1 }),
    ];
    await stage.pass('1.0.0');
    await stage.target.eventually(async () => {
      const { clock } = stage.target;
      if (clock instanceof VirtualClock) await clock.advance(1_000);
      expect(await stage.pass('1.0.0')).to.include({
        ...{ phase: 'Deploying', conditions: 'F/T/T DeploymentNotReady' },
      });
    });
  });

  for (const [kind, apiVersion] of [
    ['StatefulSet', 'apps/v1'] as const,
    ['Job', 'batch/v1'] as const,
  ]) {
    it(`the reconciler waits until a ${kind} is ready or complete`, async () => {
      const stage = await open();
      const { namespace } = stage;
      const { metadata, spec } = deployment(namespace) as ReturnType<typeof deployment> & {
        readonly spec: { readonly template: object; readonly selector: object };
      };
      const template = {
        ...spec.template,
        spec: {
          restartPolicy: kind === 'Job' ? 'Never' : 'Always',
          containers: [{ name: 'web', image: 'x' }],
          ...nowhere,
        },
      };
      const own = kind === 'Job' ? { template } : { selector: spec.selector, template };
      const more = kind === 'StatefulSet' ? { serviceName: 'web' } : {};
      const object = { apiVersion, kind, metadata, spec: { ...own, ...more } };
      stage.resources = () => [object];
      await stage.pass('1.0.0');
      expect(await stage.pass('1.0.0')).to.include({ phase: 'Deploying' });
    });
  }

  it('the reconciler keeps the transition time of unchanged conditions, and updates it when the status changes', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const times = async (): Promise<readonly unknown[]> =>
      ((await stage.status()).conditions ?? []).map((one) => one.lastTransitionTime);
    const before = await times();
    await stage.wait(1_100);
    stage.resources = () => system(stage.namespace, broken);
    await stage.pass('1.0.0');
    const after = await times();
    expect(after.slice(0, 2)).to.deep.equal(before.slice(0, 2));
    expect(after[2]).to.not.equal(before[2]);
  });

  it('the reconciler keeps the condition Upgradeable, conditions of other writers and the rest of the status', async () => {
    const stage = await open();
    const conditions = [
      { type: 'Upgradeable', status: 'False', reason: 'Busy' },
      { type: 'Custom', status: 'Unknown' },
    ] as const;
    await stage.setStatus({ conditions });
    await stage.deploy('1.0.0');
    await stage.deploy('1.1.0');
    const after = (await stage.status()).conditions ?? [];
    expect(after.slice(0, 2)).to.deep.equal(conditions);
    expect(after.map(({ type }) => type).slice(2)).to.deep.equal([
      ...['Available', 'Progressing', 'Degraded'],
    ]);
  });

  it('the reconciler calls the hooks of each reconcile in order, and requeues after the shortest interval', async () => {
    const calls: string[] = [];
    const note = (what: string) => (config: Config) =>
      Promise.resolve(void calls.push(`${what} ${config.metadata.name === stage.namespace}`));
    const stage = await open({
      controllerConfigUpdater: note('config'),
      perishablesSynchronizer: note('perishables'),
      sanityChecker: (config) => note('sanity')(config).then(() => undefined),
      preCreateHook: note('create'),
      perishablesSyncIntervalMs: 1_234,
    });
    await stage.pass('1.0.0');
    expect(calls.splice(0)).to.deep.equal(
      ['create', 'sanity', 'config', 'perishables'].map((what) => `${what} true`),
    );
    await stage.deploy('1.0.0');
    calls.splice(0);
    const result = await stage.reconciler.reconcile({ key: stage.key }, '1.0.0');
    expect(result).to.deep.equal({ type: 'requeueAfter', afterMs: 1_234 });
    expect(calls).to.deep.equal(['sanity', 'config', 'perishables'].map((what) => `${what} true`));
  });

  it('the reconciler ends a reconcile without changes when the sanity check requests it', async () => {
    const stage = await open({ sanityChecker: async () => ({ requeueAfterMs: 77 }) });
    const result = await stage.reconciler.reconcile({ key: stage.key }, '1.0.0');
    expect(result).to.deep.equal({ type: 'requeueAfter', afterMs: 77 });
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
    expect(await stage.pass('1.0.0')).to.include({ phase: 'Deploying' });
  });

  it('the reconciler continues after a sanity check that returns null, which is possible in plain JavaScript', async () => {
    const stage = await open({ sanityChecker: () => Promise.resolve(null as never) });
    await stage.deploy('1.0.0');
    expect((await stage.status()).phase).to.equal('Deployed');
  });

  for (const hook of [
    ...(['sanityChecker', 'controllerConfigUpdater'] as const),
    ...(['perishablesSynchronizer'] as const),
  ]) {
    it(`the reconciler fails when ${hook} throws, keeps conditions that are True, and recovers`, async () => {
      let isBroken = false;
      const stage = await open({
        [hook]: () => {
          if (isBroken) throw new Error('vault is sealed');
          return Promise.resolve(undefined);
        },
      });
      await stage.deploy('1.0.0');
      isBroken = true;
      const seen = await stage.pass('1.0.0');
      expect(seen).to.deep.equal({
        ...{ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0' },
        conditions: 'T/F/T DeployCompleted ReconcileFailed',
        ...{ events: ['ReconcileFailed'], error: 'vault is sealed' },
      });
      await stage.operator.requests();
      expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
      expect(await stage.writes()).to.deep.equal([]);
      isBroken = false;
      expect(await stage.pass('1.0.0')).to.include({ conditions: 'T/F/F DeployCompleted' });
    });
  }

  const answer = (status: number) =>
    new ApiError({ code: status }, { verb: 'update', kind: 'Deployment', status });
  for (const [what, failure, conditions] of [
    [
      'a configuration is not degraded when the server is briefly unreachable',
      new OperatorError('ConnectionFailed', 'the server is away'),
      'T/F/F DeployCompleted',
    ],
    ...[429, 503, 504].map(
      (status) =>
        [
          `a configuration is not degraded by the response ${status} of a busy server`,
          answer(status),
          'T/F/F DeployCompleted',
        ] as const,
    ),
    [
      'a configuration is degraded by the response 500',
      answer(500),
      'T/F/T DeployCompleted ReconcileFailed',
    ],
  ] as const) {
    it(what, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      const { client } = stage.operator;
      const update = () => Promise.reject(failure);
      const reconciler = stage.newReconciler({ client: { ...forwarding(client), update } });
      stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
      expect(await stage.pass('1.0.0', reconciler)).to.deep.equal({
        ...{ phase: 'Deployed', versions: '1.0.0 1.0.0 1.0.0', conditions },
        ...{ events: ['UpdateResourceFailed Deployment web'], error: failure.message },
      });
    });
  }

  it('the reconciler writes its status once per reconcile, and retries the write after a change of labels only', async () => {
    const stage = await open({
      perishablesSynchronizer: async () => {
        if (isMeddling) await stage.edit({ metadata: { labels: { touched: 'yes' } } });
        isMeddling = false;
      },
    });
    let isMeddling = true;
    expect(await stage.pass('1.0.0'))
      .to.include({ phase: 'Deploying' })
      .and.not.have.property('error');
    expect((await stage.config()).metadata.labels).to.deep.equal({ touched: 'yes' });
  });

  it('the reconciler throws the Conflict if the spec changes during a reconcile, and records no event about the status', async () => {
    let edits = 0;
    const stage = await open({
      perishablesSynchronizer: () => stage.edit({ spec: { changed: `${edits++}` } }),
    });
    const seen = await stage.pass('1.0.0');
    expect(seen.error).to.match(/409 Conflict/);
    expect(seen.phase).to.equal(undefined);
    expect(seen.events).to.not.include('DeployStarted');
  });

  it('the reconciler stores the status in the field that the methods status and withStatus of the CrManager use', async () => {
    interface Kept extends Config {
      readonly spec?: { readonly kept?: Config['status'] };
    }
    const stage = await open({ subresourceEnabled: false });
    const crManager = {
      type: stage.type,
      status: (config: Kept) => config.spec?.kept,
      withStatus: (config: Kept, kept: Config['status']) => ({ ...config, spec: { kept } }) as Kept,
      getAllResources: () => system(stage.namespace),
      getDependantResourceTypes: () => stage.dependants,
    };
    const reconciler = stage.newReconciler({ crManager, subresourceEnabled: false });
    await stage.pass('1.0.0', reconciler);
    await stage.rolledOut();
    await stage.pass('1.0.0', reconciler);
    const { spec, status } = await stage.config();
    expect(status).to.equal(undefined);
    expect(spec).to.have.nested.property('kept.phase', 'Deployed');
    expect((await stage.pass('1.0.0', reconciler)).events).to.deep.equal([]);
  });

  it('the reconciler decides by the method isCreating of the CrManager whether a deployment is new', async () => {
    const stage = await open();
    const crManager = {
      type: stage.type,
      isCreating: ({ status }: Config) => (status?.conditions ?? []).length === 0,
      getAllResources: () => stage.resources({} as Config) as ReturnType<typeof system>,
      getDependantResourceTypes: () => stage.dependants,
    };
    const reconciler = stage.newReconciler({ crManager });
    const { resources } = stage;
    stage.resources = () => undefined;
    expect(await stage.pass('1.0.0', reconciler)).to.include({ phase: undefined });
    stage.resources = resources;
    expect(await stage.pass('1.0.0', reconciler)).to.include({ phase: 'Deploying' });
  });
}
