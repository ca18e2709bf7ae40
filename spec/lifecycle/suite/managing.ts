import { expect } from 'chai';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import type { Client } from '../../../lib/client/index.js';
import { lifecycleController } from '../../../lib/lifecycle/index.js';
import type { LifecycleReconciler } from '../../../lib/lifecycle/index.js';
import { Manager } from '../../../lib/manager/index.js';
import type { ManagerOptions } from '../../../lib/manager/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { OperatorError } from '../../../lib/system/operator-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { LocalConfig } from './stage.js';
import { configMap, nowhere, system } from './system.js';
import type { Config, OpenStage, Stage } from './stage.js';

interface Running {
  stop(): Promise<void>;
}

/** Declares how the reconciler works in a Manager: watches, cache, leaders, several configurations. */
export function managingSuite(open: OpenStage): void {
  const running: Running[] = [];
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop();
  });
  const run = (stage: Stage, parts: Parts = {}): Running => {
    const started = start(stage, parts);
    running.push(started);
    return started;
  };

  it('the reconciler deploys, repairs, upgrades and deletes in response to watch events, without a timer', async () => {
    const stage = await open({ type: LocalConfig, perishablesSyncIntervalMs: 3_600_000 });
    const first = run(stage);
    await until(stage, () => isDeployed(stage, '1.0.0'));
    const key = { name: 'web', namespace: stage.namespace };
    await stage.admin.delete({ apiVersion: 'v1', kind: 'Service' }, key);
    await until(stage, async () => !(await stage.isGone('Service', 'web')));
    await first.stop();
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    run(stage, { version: '1.1.0' });
    await until(stage, () => isDeployed(stage, '1.1.0'));
    await stage.delete();
    await until(stage, async () => !(await stage.exists()));
    expect(await stage.isGone('Deployment', 'web')).to.equal(true);
  });

  it('the reconciler neither writes nor reads while the system is healthy', async () => {
    let passes = 0;
    const stage = await open({
      type: LocalConfig,
      sanityChecker: async () => {
        passes++;
        return Promise.resolve(undefined);
      },
    });
    stage.resources = () => [...system(stage.namespace), configMap(stage.namespace)];
    run(stage);
    await until(stage, () => isDeployed(stage, '1.0.0'));
    // Waits until the reconciles that the last write triggered are over.
    for (let before = -1; before !== passes;) {
      before = passes;
      await stage.wait(3_000);
    }
    await stage.operator.requests();
    const before = passes;
    await stage.edit({ metadata: { labels: { touched: 'yes' } } });
    await until(stage, () => passes > before);
    await stage.wait(500);
    const requests = await stage.operator.requests();
    expect(requests.filter(({ verb }) => verb !== 'watch')).to.deep.equal([]);
  });

  it('the reconciler writes the status of the configuration once for each phase that it enters', async () => {
    const stage = await open({ type: LocalConfig });
    const deployed = run(stage);
    await until(stage, () => isDeployed(stage, '1.0.0'));
    await deployed.stop();
    const writes = (await stage.writes()).filter((write) => write.endsWith('localconfigs'));
    // The writes add the finalizer, and then set the phases Deploying and Deployed.
    expect(writes).to.deep.equal(Array.from({ length: 3 }, () => 'patch localconfigs'));
  });

  it('the reconciler writes through the cached client, so that its next read returns the written state', async () => {
    const stage = await open({ type: LocalConfig });
    const { client } = stage.operator;
    const past: string[] = [];
    const note = (verb: string) => () => {
      past.push(verb);
      return Promise.reject(new Error(`${verb} past the cache`));
    };
    const [create, update, patch] = ['create', 'update', 'patch'].map(note);
    const live = { ...forwarding(client), create, update, patch, delete: note('delete') } as Client;
    const behind = Object.assign(forwarding(client), { live });
    const reconciler = stage.newReconciler({ client: behind });
    stage.resources = () => [configMap(stage.namespace, 'old'), configMap(stage.namespace)];
    for (let count = 0; count < 2; count++) await stage.pass('1.0.0', reconciler);
    stage.resources = () => [configMap(stage.namespace)];
    for (let count = 0; count < 3; count++) await stage.pass('1.1.0', reconciler);
    expect(await isDeployed(stage, '1.1.0')).to.equal(true);
    await stage.delete();
    await until(stage, async () => {
      await stage.pass('1.1.0', reconciler);
      return !(await stage.exists());
    });
    expect(past).to.deep.equal([]);
  });

  it('the reconciler begins to watch a kind when objects of it are first desired', async () => {
    const stage = await open({ type: LocalConfig, perishablesSyncIntervalMs: 3_600_000 });
    run(stage);
    await until(stage, () => isDeployed(stage, '1.0.0'));
    const role = {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
      metadata: { name: 'web', namespace: stage.namespace },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    };
    stage.resources = () => [...system(stage.namespace), role];
    await stage.edit({ spec: { changed: 'yes' } });
    const find = () => stage.get('Role', 'web', role.apiVersion);
    const uid = await until(stage, async () => (await find()).metadata.uid);
    // Waits until no timer of the reconcile that created the Role is left.
    await stage.wait(3_000);
    const { apiVersion, kind } = role;
    await stage.admin.delete({ apiVersion, kind }, role.metadata);
    await until(stage, async () => (await find()).metadata.uid !== uid);
  });

  it('the reconciler calls watchRegistrator once for each kind', async () => {
    const told: string[] = [];
    const stage = await open({
      type: LocalConfig,
      watchRegistrator: ({ kind }) => void told.push(kind),
    });
    await stage.deploy('1.0.0');
    stage.resources = () => [...system(stage.namespace), configMap(stage.namespace)];
    await stage.pass('1.0.0');
    expect(told).to.deep.equal(['ServiceAccount', 'Deployment', 'Service', 'ConfigMap']);
  });

  it('another replica continues when the leader stops', async () => {
    const stage = await open({ type: LocalConfig });
    await stage.deploy('1.0.0');
    stage.resources = () => system(stage.namespace, { image: 'nginx:2', pod: nowhere });
    const lease = { name: 'lifecycle', namespace: stage.namespace, retryPeriodMs: 200 };
    const times = { leaseDurationMs: 2_000, renewDeadlineMs: 1_000 };
    const leaderElection = { ...lease, ...times };
    const first = run(stage, { version: '1.1.0', options: { leaderElection } });
    await until(stage, async () => (await stage.status()).phase === 'Upgrading');
    run(stage, { version: '1.1.0', options: { leaderElection } });
    await first.stop();
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    await stage.edit({ spec: { changed: 'yes' } });
    await until(stage, () => isDeployed(stage, '1.1.0'));
  });

  it('the reconciler handles several configurations in parallel, each with its own objects', async () => {
    const stage = await open({ type: LocalConfig, config: null });
    const names = ['a', 'b', 'c', 'd', 'e'];
    stage.resources = ({ metadata: { name = '' } }: Config) =>
      system(stage.namespace, { name }).map((object) => ({
        ...object,
        metadata: { ...object.metadata, name },
      }));
    run(stage, { maxConcurrentReconciles: 4 });
    for (const name of names) await stage.admin.create(configOf(stage, name));
    const phaseOf = async (name: string) =>
      (await stage.admin.get(stage.type, { name, namespace: stage.namespace })).status?.phase;
    await until(stage, async () => {
      const phases = await Promise.all(names.map(phaseOf));
      return phases.every((phase) => phase === 'Deployed');
    });
    await stage.admin.delete(stage.type, { name: 'c', namespace: stage.namespace });
    await until(stage, () =>
      phaseOf('c').then(
        () => false,
        (error: unknown) => isNotFound(error),
      ),
    );
    const { items } = await stage.admin.list(
      { apiVersion: 'v1', kind: 'Service' },
      { namespace: stage.namespace },
    );
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b', 'd', 'e']);
  });

  it('the reconciler calls perishablesSynchronizer in each interval although getAllResources throws an error that is not retried', async () => {
    let renewals = 0;
    const stage = await open({
      type: LocalConfig,
      perishablesSyncIntervalMs: 500,
      perishablesSynchronizer: async () => {
        renewals++;
        return Promise.resolve();
      },
    });
    run(stage);
    await until(stage, () => isDeployed(stage, '1.0.0'));
    stage.resources = () => {
      throw new OperatorError('InvalidOption', 'no such flavour');
    };
    await stage.edit({ spec: { changed: 'yes' } });
    await until(stage, async () => {
      const { conditions = [] } = await stage.status();
      return conditions.some(({ reason }) => reason === 'ReconcileFailed');
    });
    const before = renewals;
    await stage.wait(5_000);
    expect(renewals - before).to.be.at.least(8);
  });

  const endless: Record<string, (stage: Stage) => unknown> = {
    'a callback throws': (stage) =>
      stage.dispatcher.addCallback(null, () => {
        throw new Error('never');
      }),
    'getAllResources throws': (stage) =>
      (stage.resources = () => {
        throw new Error('never');
      }),
    'an object is refused': (stage) =>
      (stage.resources = () => system(stage.namespace, { replicas: -1 })),
    'a kind is missing': (stage) =>
      (stage.resources = () => [
        { apiVersion: 'no.example.com/v1', kind: 'None', metadata: { name: 'x' } },
      ]),
    'pods do not become ready': (stage) =>
      (stage.resources = () => system(stage.namespace, { pod: nowhere })),
  };
  for (const [name, begin] of Object.entries(endless)) {
    it(`the reconciler sends few writes when an error persists: ${name}`, async () => {
      const stage = await open({ type: LocalConfig });
      begin(stage);
      run(stage);
      await stage.wait(stage.target.real ? 3_000 : 600_000);
      const writes = await stage.writes();
      // The operator writes the finalizer, the status and each object, or tries once per back-off.
      const limit = stage.target.real ? 40 : 60;
      expect(writes.length).to.be.within(1, limit, writes.join('\n'));
      const ofStatus = writes.filter((write) => write === 'patch localconfigs');
      expect(ofStatus.length).to.be.within(1, 4);
    });
  }
}

interface Parts {
  readonly version?: string;
  readonly maxConcurrentReconciles?: number;
  readonly options?: Partial<ManagerOptions>;
  readonly reconciler?: LifecycleReconciler<Config>;
}

/** A process of the operator, without the state of an earlier one. */
function start(
  stage: Stage,
  { version = '1.0.0', maxConcurrentReconciles = 1, options = {} }: Parts,
): Running {
  const { clock } = stage.target;
  const { client } = stage.operator;
  const cacheOptions = { namespaces: [stage.namespace] };
  const manager = new Manager({ client, clock, cacheOptions, rbacPreflight: 'off', ...options });
  const controllerOptions = { operatorVersion: version, maxConcurrentReconciles };
  manager.add(lifecycleController(stage.newReconciler(stage.options), controllerOptions));
  const ending = new AbortController();
  const state: { isOver: boolean; failure?: unknown } = { isOver: false };
  const ended = manager.run(ending.signal).then(
    () => void (state.isOver = true),
    (error: unknown) => {
      state.isOver = true;
      state.failure = error;
    },
  );
  return {
    stop: async () => {
      ending.abort(new OperatorError('Stopped', 'the spec is over'));
      while (!state.isOver && clock instanceof VirtualClock) await clock.advance(1_000);
      await ended;
      expect(state.failure).to.equal(undefined);
    },
  };
}

function configOf({ type, namespace }: Stage, name: string): Config {
  const { apiVersion, kind } = type as Config;
  return { apiVersion, kind, metadata: { name, namespace }, spec: {} };
}

async function isDeployed(stage: Stage, version: string): Promise<boolean> {
  const { phase, observedVersion } = await stage.status();
  return phase === 'Deployed' && observedVersion === version;
}

/**
 * Waits until `check` returns true, and treats missing objects as not yet. Time advances meanwhile.
 */
async function until<T>(stage: Stage, check: () => T | Promise<T>): Promise<T> {
  for (let round = 0; ; round++) {
    try {
      const answer = await check();
      if (answer !== false && answer !== undefined) return answer;
      if (round > 400) throw new Error(`it does not hold: ${check.toString()}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (round > 400) throw error;
    }
    await stage.wait(stage.target.real ? 100 : 50);
  }
}
