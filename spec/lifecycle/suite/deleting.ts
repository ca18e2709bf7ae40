import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import type { Client } from '../../../lib/client/index.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { configMap, deployment, nowhere, system } from './system.js';
import { LocalConfig } from './stage.js';
import { ApiError } from '../../../lib/object/api-error.js';
import type { Config, OpenStage, Seen, Stage } from './stage.js';

/** Declares a deletion before and during an upgrade: phase Deleted, the same versions, and never a healthy system. */
export function deletingSuite(open: OpenStage): void {
  const beginnings: Record<string, (stage: Stage) => Promise<void>> = {
    'a deployed system': async () => undefined,
    'an upgrade in progress': async (stage) => {
      const pods = { image: 'nginx:2', pod: nowhere };
      stage.resources = () => [deployment(stage.namespace, pods)];
      await stage.pass('1.1.0');
    },
  };
  for (const [name, begin] of Object.entries(beginnings)) {
    it(`the reconciler deletes ${name} through the phases Deleting and Deleted, never Available, with unchanged versions in the status`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      await begin(stage);
      // A foreign finalizer keeps the configuration readable after its deletion.
      const { metadata } = await stage.config();
      const held = [...(metadata.finalizers ?? []), 'example.com/held'];
      await stage.edit({ metadata: { finalizers: held } });
      const { versions } = await stage.pass('1.1.0');
      await stage.delete();
      const passes = await passesUntil(stage, ({ phase }) => phase === 'Deleted');
      expect(new Set(passes.map(({ phase }) => phase))).to.deep.equal(
        new Set(['Deleting', 'Deleted']),
      );
      for (const pass of passes) {
        expect(pass.versions).to.equal(versions);
        expect(pass.conditions).to.match(/^F\//);
      }
      expect(passes[0]?.conditions).to.equal('F/T/F DeletionStarted');
      expect(passes.at(-1)?.conditions).to.equal('F/F/F');
      expect((await stage.config()).metadata.finalizers).to.deep.equal(['example.com/held']);
      await stage.edit({ metadata: { finalizers: null } });
      expect(await stage.exists()).to.equal(false);
    });
  }

  it('the reconciler ends the deletion although an admission policy refuses the status with phase Deleted', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const { client } = stage.operator;
    const message = `sampleconfigs "s" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`;
    const patch: Client['patch'] = (...call) => {
      if (!JSON.stringify(call[2]).includes('"Deleted"')) return client.patch(...call);
      const request = { verb: 'patch', kind: 'SampleConfig', name: 's', status: 422 } as const;
      return Promise.reject(new ApiError({ reason: 'Invalid', message }, request));
    };
    const refusing = stage.newReconciler({ client: { ...forwarding(client), patch } });
    await stage.delete();
    await stage.target.eventually(async () => {
      await stage.pass('1.0.0', refusing);
      expect(await stage.exists()).to.equal(false);
    });
  });

  it('the reconciler deletes in reverse order, each object after the previous one is gone, and records one Event for each', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.touch('Service', 'web', { metadata: { finalizers: ['example.com/held'] } });
    await stage.delete();
    for (let pass = 0; pass < 2; pass++) {
      expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
      const { conditions = [] } = await stage.status();
      expect(conditions.find(({ type }) => type === 'Progressing')?.message).to.equal(
        `its objects are being deleted; waiting for Service ${stage.namespace}/web: deletion requested, held by finalizers example.com/held`,
      );
    }
    expect(await stage.isGone('Deployment', 'web')).to.equal(false);
    await stage.touch('Service', 'web', { metadata: { finalizers: null } });
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ events }) => events)).to.deep.equal([
      'DeleteResourceSuccess Service web',
      'DeleteResourceSuccess Deployment web',
      'DeleteResourceSuccess ServiceAccount web',
    ]);
  });

  it('the reconciler keeps the objects of a configuration that is deleted with --cascade=orphan', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.delete({ propagationPolicy: 'Orphan' });
    const passes = await passesUntil(stage, ({ phase }) => phase !== 'Deleting');
    expect(passes.flatMap(({ events }) => events)).to.deep.equal([]);
    expect((await stage.writes()).filter((write) => write.startsWith('delete '))).to.deep.equal([]);
    for (const [kind, name] of [
      ['Deployment', 'web'],
      ['Service', 'web'],
    ] as const) {
      expect(await stage.isGone(kind, name)).to.equal(false);
    }
  });

  it('the reconciler deletes a cluster-scoped object in its order, although the desired object names a namespace', async () => {
    const stage = await open();
    const { namespace } = stage;
    const ClusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
    const name = `lifecycle-${namespace}`;
    stage.dependants = [...stage.dependants, ClusterRole];
    stage.resources = () => [
      { ...ClusterRole, metadata: { name, namespace }, rules: [] },
      configMap(namespace),
    ];
    await stage.deploy('1.0.0');
    await stage.delete();
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ events }) => events)).to.deep.equal([
      'DeleteResourceSuccess ConfigMap settings',
      `DeleteResourceSuccess ClusterRole ${name}`,
    ]);
  });

  it('the reconciler sets Available to False in the first reconcile of a deletion, although its requests to delete objects fail', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.delete();
    const away = () => Promise.reject(new OperatorError('ConnectionFailed', 'the server is away'));
    const client = { ...forwarding(stage.operator.client), delete: away };
    expect(await stage.pass('1.0.0', stage.newReconciler({ client }))).to.deep.include({
      ...{ phase: 'Deleting', conditions: 'F/T/F DeletionStarted', error: 'the server is away' },
    });
    await passesUntil(stage, ({ phase }) => phase === undefined);
  });

  it('a deletion is not completed by a reconcile that was aborted before it had listed the objects', async () => {
    const stage = await open();
    stage.resources = () => [];
    await stage.deploy('1.0.0');
    await stage.delete();
    const ending = new AbortController();
    stage.resources = () => {
      ending.abort(new Error('the operator ends'));
      throw new Error('interrupted');
    };
    const { client } = stage.operator;
    // A client whose calls outlast the abort.
    const lasting: Client = {
      ...forwarding(client),
      list: (type, options) => client.list(type, { ...options, signal: undefined }),
      patch: (type, key, patch, options) =>
        client.patch(type, key, patch, { ...options, signal: undefined }),
    };
    const request = { key: stage.key, signal: ending.signal };
    const error: unknown = await stage
      .newReconciler({ client: lasting })
      .reconcile(request, '1.0.0')
      .catch((one: unknown) => one);
    expect(String(error)).to.match(/the operator ends/);
    expect(await stage.exists()).to.equal(true);
    stage.resources = () => [];
    await passesUntil(stage, ({ phase }) => phase === undefined);
  });

  it('the reconciler deletes workloads with the policy Foreground, and other objects with Background', async () => {
    const stage = await open();
    const { namespace } = stage;
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } };
    const jobs = {
      ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly', namespace } },
      spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
    };
    stage.dependants = [...stage.dependants, { apiVersion: 'batch/v1', kind: 'CronJob' }];
    stage.resources = () => [...system(namespace), jobs];
    await stage.deploy('1.0.0');
    const { client } = stage.operator;
    const policies: Record<string, unknown> = {};
    const remove: Client['delete'] = (type, key, options) => {
      policies[type.kind] = options?.propagationPolicy;
      return client.delete(type, key, options);
    };
    stage.reconciler = stage.newReconciler({ client: { ...forwarding(client), delete: remove } });
    await stage.delete();
    await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(policies).to.deep.equal({
      ...{ CronJob: 'Foreground', Deployment: 'Foreground' },
      ...{ Service: 'Background', ServiceAccount: 'Background' },
    });
  });

  it('the reconciler names only the finalizers of other controllers when it waits for an object', async () => {
    const stage = await open();
    stage.resources = () => [deployment(stage.namespace)];
    await stage.deploy('1.0.0');
    await stage.touch('Deployment', 'web', { metadata: { finalizers: ['example.com/held'] } });
    await stage.delete();
    const { conditions = [] } = await passesUntil(
      stage,
      ({ conditions: shown }) => shown === 'F/T/F DeletionStarted',
    ).then(() => stage.status());
    expect(conditions.find(({ type }) => type === 'Progressing')?.message).to.match(
      /Deployment \S+\/web: deletion requested, held by finalizers example\.com\/held$/,
    );
    await stage.touch('Deployment', 'web', { metadata: { finalizers: null } });
    await passesUntil(stage, ({ phase }) => phase === undefined);
  });

  it('the reconciler does not call OPERATOR_DELETE for an object that is already being deleted', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const kinds: (string | undefined)[] = [];
    stage.dispatcher.addCallback(null, ({ desired }) => void kinds.push(desired?.kind));
    await stage.touch('Service', 'web', { metadata: { finalizers: ['example.com/held'] } });
    const key = { name: 'web', namespace: stage.namespace };
    await stage.admin.delete({ apiVersion: 'v1', kind: 'Service' }, key);
    await stage.delete();
    await stage.pass('1.0.0');
    await stage.touch('Service', 'web', { metadata: { finalizers: null } });
    await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(kinds).to.deep.equal(['ServiceAccount', 'Deployment']);
  });

  it('a deletion ends without an error if the finalizer is removed by hand meanwhile', async () => {
    const stage = await open();
    stage.resources = () => [];
    await stage.deploy('1.0.0');
    const { client } = stage.operator;
    const patch: Client['patch'] = async (type, key, body, options) => {
      if (options?.subresource === undefined) await stage.edit({ metadata: { finalizers: null } });
      return client.patch(type, key, body, options);
    };
    await stage.delete();
    const reconciler = stage.newReconciler({ client: { ...forwarding(client), patch } });
    expect(await stage.pass('1.0.0', reconciler)).to.deep.equal({
      ...{ phase: undefined, versions: '- - -', conditions: '-/-/-', events: [] },
    });
  });

  it('the reconciler deletes objects of earlier versions too, and no object that a user created', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'old'), configMap(namespace)];
    await stage.deploy('1.0.0');
    stage.resources = () => [configMap(namespace), configMap(namespace, 'of-somebody')];
    await stage.admin.create(configMap(namespace, 'of-somebody'));
    await stage.delete();
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ events }) => events)).to.deep.equal([
      'DeleteResourceSuccess ConfigMap old',
      'DeleteResourceSuccess ConfigMap settings',
    ]);
    expect(await stage.isGone('ConfigMap', 'of-somebody')).to.equal(false);
  });

  it('the reconciler calls OPERATOR_DELETE for each desired object once, before any deletion', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const calls: string[] = [];
    stage.dispatcher.addCallback(null, async ({ state, desired, current }) => {
      const left = await stage.isGone('Service', 'web');
      calls.push(`${state} ${desired?.kind} ${current?.metadata.uid === undefined} ${left}`);
    });
    await stage.delete();
    await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(calls).to.deep.equal(
      ['ServiceAccount', 'Deployment', 'Service'].map(
        (kind) => `OPERATOR_DELETE ${kind} false false`,
      ),
    );
  });

  it('the reconciler waits while a callback fails, reports the error, and continues when the callback succeeds', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const calls: string[] = [];
    let isBroken = true;
    const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
    stage.dispatcher.addCallback(kind, () => {
      if (isBroken) throw new Error('volumes are in use');
    });
    stage.dispatcher.addCallback(null, ({ desired }) => void calls.push(desired?.kind ?? ''));
    await stage.delete();
    for (let pass = 0; pass < 2; pass++) {
      expect(await stage.pass('1.0.0')).to.deep.equal({
        ...{ phase: 'Deleting', versions: '1.0.0 1.0.0 1.0.0' },
        conditions: 'F/T/T DeletionBlocked',
        events: ['DeleteResourceFailed Deployment web'],
        error: 'volumes are in use',
      });
    }
    expect(await stage.isGone('Service', 'web')).to.equal(false);
    expect(calls).to.deep.equal(['ServiceAccount', 'Service', 'ServiceAccount', 'Service']);
    isBroken = false;
    await passesUntil(stage, ({ phase }) => phase === undefined);
  });

  for (const [what, newError] of [
    ['an unreachable server', () => new OperatorError('ConnectionFailed', 'no route')],
    ['a busy server', () => newApiError(503, 'ServiceUnavailable')],
    ['a conflict', () => newApiError(409, 'Conflict')],
  ] as const) {
    it(`the reconciler calls a callback again that failed because of ${what}, before any deletion`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      const calls = { failed: 0, succeeded: 0 };
      let isBroken = true;
      stage.dispatcher.addCallback(null, ({ desired }) => {
        if (desired?.kind !== 'Deployment') return;
        calls[isBroken ? 'failed' : 'succeeded'] += 1;
        if (isBroken) throw newError();
      });
      await stage.delete();
      for (let count = 1; count < 3; count++) {
        await stage.pass('1.0.0');
        expect(calls.failed).to.be.at.least(count);
        expect(await stage.isGone('Service', 'web')).to.equal(false);
      }
      isBroken = false;
      await passesUntil(stage, ({ phase }) => phase === undefined);
      expect(calls.succeeded).to.equal(1);
    });
  }

  it('the reconciler waits while getAllResources cannot reach a server of its own, and then calls all callbacks', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const told: (string | undefined)[] = [];
    stage.dispatcher.addCallback(null, ({ desired }) => void told.push(desired?.kind));
    let isReachable = false;
    const reconciler = stage.newReconciler({
      crManager: {
        type: stage.type,
        getAllResources: () => {
          if (!isReachable) throw new OperatorError('ConnectionFailed', 'no route to the registry');
          return stage.resources({} as Config) as UnstructuredObject[];
        },
        // As after a restart: no kind is known yet.
        getDependantResourceTypes: () => [],
      },
    });
    await stage.delete();
    expect((await stage.pass('1.0.0', reconciler)).conditions).to.equal('F/T/T DeletionBlocked');
    expect(await stage.isGone('Service', 'web')).to.equal(false);
    expect(told).to.deep.equal([]);
    isReachable = true;
    await stage.target.eventually(async () => {
      expect((await stage.pass('1.0.0', reconciler)).phase).to.equal(undefined);
    });
    expect(told).to.deep.equal(['ServiceAccount', 'Deployment', 'Service']);
  });

  for (const broken of ['getAllResources', 'getDependantResourceTypes'] as const) {
    it(`the reconciler deletes owned objects although ${broken} throws, calls callbacks first, and reports the error`, async () => {
      const stage = await open();
      await stage.deploy('1.0.0');
      const calls: string[] = [];
      stage.dispatcher.addCallback(null, ({ state, current }) => {
        calls.push(`${state} ${current?.kind}`);
      });
      const reconciler = stage.newReconciler({
        crManager: {
          type: stage.type,
          getAllResources: () => stage.resources({} as Config) as UnstructuredObject[],
          getDependantResourceTypes: () => stage.dependants,
          [broken]: () => {
            throw new Error('no such flavour');
          },
        },
      });
      await stage.touch('Service', 'web', { metadata: { finalizers: ['example.com/held'] } });
      await stage.delete();
      await stage.target.eventually(async () => {
        const { conditions } = await stage.pass('1.0.0', reconciler);
        expect(conditions).to.equal('F/T/T ResourcesUnknown');
        const [service] = (await stage.get('Service', 'web')).metadata.finalizers ?? [];
        expect(service).to.equal('example.com/held');
        expect((await stage.get('Service', 'web')).metadata.deletionTimestamp).to.be.a('string');
      });
      const { conditions = [] } = await stage.status();
      const messages = conditions.flatMap(({ message }) => message ?? []);
      expect(messages.join()).to.include(`${broken}: no such flavour`);
      expect(calls).to.have.members(
        ['ServiceAccount', 'Deployment', 'Service'].map((kind) => `OPERATOR_DELETE ${kind}`),
      );
      await stage.touch('Service', 'web', { metadata: { finalizers: null } });
      await stage.target.eventually(async () => {
        await stage.pass('1.0.0', reconciler);
        expect(await stage.exists()).to.equal(false);
      });
      expect(await stage.isGone('Deployment', 'web')).to.equal(true);
    });
  }

  it('the reconciler does not call OPERATOR_DELETE for live objects of another configuration', async () => {
    const stage = await open({ type: LocalConfig });
    await stage.deploy('1.0.0');
    const { apiVersion, kind } = stage.type as Config;
    const key = { name: 'other', namespace: stage.namespace };
    await stage.admin.create<Config>({
      ...{ apiVersion, kind, metadata: { ...key, finalizers: ['operator-builder.io/lifecycle'] } },
      spec: {},
    });
    const calls: string[] = [];
    stage.dispatcher.addCallback(null, ({ state }) => void calls.push(state));
    await stage.admin.delete(stage.type, key);
    await stage.target.eventually(async () => {
      await stage.reconciler.reconcile({ key }, '1.0.0');
      const left = await stage.admin.list(stage.type, { namespace: stage.namespace });
      expect(left.items).to.have.length(1);
    });
    expect(calls).to.deep.equal([]);
    expect(await stage.isGone('Service', 'web')).to.equal(false);
  });

  it('the reconciler deletes owned objects although the list of desired objects is no longer valid', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    const states = new Set<string>();
    stage.dispatcher.addCallback(null, ({ state }) => void states.add(state));
    const metadata = { name: 'x' };
    stage.resources = () => [
      ...[null, { kind: 'Secret' }, { apiVersion: 'v1', kind: 'Secret', metadata }],
      { apiVersion: 'none.example.com/v1', kind: 'None', metadata },
    ];
    await stage.delete();
    const passes = await passesUntil(stage, ({ phase }) => phase === undefined);
    expect(passes.flatMap(({ error }) => error ?? [])).to.deep.equal([]);
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
    expect([...states]).to.deep.equal(['OPERATOR_DELETE']);
  });

  it('the reconciler deletes an object although its desired object now contains a value that JSON cannot represent', async () => {
    const stage = await open();
    stage.resources = () => [configMap(stage.namespace)];
    await stage.deploy('1.0.0');
    stage.resources = () => [{ ...configMap(stage.namespace), data: { size: () => 'small' } }];
    const called: string[] = [];
    stage.dispatcher.addCallback(null, ({ state, current }) => {
      if (state === 'OPERATOR_DELETE') called.push(current?.metadata.name ?? '');
    });
    await stage.delete();
    await stage.target.eventually(async () => {
      await stage.pass('1.0.1');
      expect(await stage.exists()).to.equal(false);
    });
    expect(await stage.isGone('ConfigMap', 'settings')).to.equal(true);
    expect(called).to.deep.equal(['settings']);
  });

  it("the reconciler does not clean up after a configuration that is deleted without the operator's finalizer or was never deployed", async () => {
    const stage = await open({ config: { metadata: { finalizers: ['example.com/held'] } } });
    await stage.delete();
    await stage.operator.requests();
    expect(await stage.pass('1.0.0')).to.include({ phase: undefined });
    expect(await stage.writes()).to.deep.equal([]);
    await stage.edit({ metadata: { finalizers: null } });
  });

  it('the reconciler restores a finalizer that was removed by hand', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    await stage.edit({ metadata: { finalizers: null } });
    await stage.pass('1.0.0');
    expect((await stage.config()).metadata.finalizers).to.have.length(1);
  });

  it('a deletion can be completed by an older version of the operator', async () => {
    const stage = await open();
    await stage.deploy('1.1.0');
    expect((await stage.pass('1.0.0')).conditions).to.include('Downgrade');
    await stage.delete();
    const [first] = await passesUntil(stage, ({ phase }) => phase === undefined, '1.0.0');
    expect(first?.conditions).to.equal('F/T/F DeletionStarted');
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
  });
}

async function passesUntil(
  stage: Stage,
  isOver: (seen: Seen) => boolean,
  version = '1.1.0',
): Promise<readonly Seen[]> {
  const passes: Seen[] = [];
  await stage.target.eventually(async () => {
    const seen = await stage.pass(version);
    passes.push(seen);
    if (!isOver(seen)) throw new Error(`${seen.phase ?? ''} ${seen.error ?? ''}`);
  });
  return passes;
}

function newApiError(status: number, reason: string): ApiError {
  return new ApiError({ code: status, reason }, { verb: 'get', kind: 'Bucket', status });
}
