import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { planResource } from '../../lib/plan/plan-resource.js';
import type { PlanStep, ResourcePlan } from '../../lib/plan/plan-resource.js';
import { renderSteps } from '../../lib/plan/render-steps.js';
import { ensureCrd, getIfExists } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { Client } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { controllerFor, done, requeueAfter } from '../../lib/controller/index.js';
import type { ReconcileContext, Result } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import type { OperatorDefinition } from '../../lib/manager/index.js';
import { ConfigMap, Deployment } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { Operator } from '../../lib/operator/index.js';
import { silentLogger } from '../../lib/system/logger.js';
import { systemClock } from '../../lib/system/clock.js';
import { Barn, Farm, operator } from '../cli/project/farm/src/operator.js';

const key = { namespace: 'default', name: 'f' };

function farm(spec: object): UnstructuredObject {
  return { apiVersion: Farm.apiVersion, kind: 'Farm', metadata: { name: 'f' }, spec };
}

interface ChildStatus {
  readonly phase?: string;
  readonly observedGeneration?: number;
  readonly startTime?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** Returns an operator that creates `child`, and copies its status into a ConfigMap once it is final. */
function copyingStatusOf(child: UnstructuredObject): OperatorDefinition {
  const at = { namespace: 'default', name: 'child' };
  const seenAt = { ...at, name: 'seen' };
  const reconcile = async ({ client }: ReconcileContext): Promise<Result> => {
    const live = await getIfExists(client, child, at);
    if (live === undefined) await client.create({ ...child, metadata: at });
    const { status } = (live ?? {}) as { readonly status?: ChildStatus };
    const isFinal = ['Bound', 'Running', 'Succeeded'].includes(status?.phase ?? '');
    if (!isFinal && status?.observedGeneration === undefined) return requeueAfter(1);
    if ((await getIfExists(client, ConfigMap, seenAt)) !== undefined) return done();
    const data = { status: JSON.stringify(status) };
    await client.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: seenAt, data });
    return done();
  };
  const controller = controllerFor(Farm).complete(reconcile);
  return { name: 'copying', setup: (manager) => void manager.add(controller) };
}

describe('The steps of a plan', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Farm, Barn], simulateWorkloads: true });
    client = cluster.client();
  });

  afterEach(() => cluster.stop());

  function plan(given: object, planned: OperatorDefinition = operator): Promise<ResourcePlan> {
    const { signal } = new AbortController();
    const surroundings = { logger: silentLogger, clock: systemClock, signal };
    const planning = { operator: planned, client, namespace: 'default', ...surroundings };
    const object = 'kind' in given ? (given as UnstructuredObject) : farm(given);
    return planResource(object, planning);
  }

  /** Runs the operator until it is ready and all rollouts are complete. */
  async function run(spec: object): Promise<void> {
    await client.apply({ ...farm(spec), metadata: key }, { fieldManager: 'kubectl', force: true });
    const stop = new AbortController();
    const manager = new Manager({ client, rbacPreflight: 'off' });
    await operator.setup(manager);
    const running = manager.run(stop.signal);
    const { generation } = (await client.get(Farm, key)).metadata;
    for (;;) {
      await cluster.settled();
      const { status, metadata } = await client.get(Farm, key);
      const web = await client.list(Deployment, { namespace: 'default' });
      const isSeen = metadata.generation === generation && web.items.length > 0;
      if (isSeen && status?.phase === 'Ready') break;
    }
    stop.abort();
    await running;
  }

  const did = ({ after, objects }: PlanStep): readonly (readonly string[])[] => [
    after.map(({ kind, name }) => `${kind} ${name}`),
    objects
      .filter(({ action }) => action !== 'unchanged')
      .map(({ action, ref }) => `${action} ${ref.kind} ${ref.name}`),
  ];

  it('include objects of an operator with sharding', async () => {
    const shared = new Operator('farmers');
    shared
      .for(Farm, { status: false })
      .owns(ConfigMap)
      .runsOn('shards')
      .builds(({ builder }) => builder.configMap({ name: 'field' }));
    const { steps } = await plan({ migration: 'a', workers: false }, shared);
    expect(steps.flatMap((step) => did(step)[1])).to.include('create ConfigMap field');
  });

  it('lead from the first objects to the final status', async () => {
    const { steps, settled, changed } = await plan({ migration: 'a', workers: false });
    expect({ settled, changed }).to.deep.equal({ settled: true, changed: true });
    expect(steps.map(did)).to.deep.equal([
      [
        [],
        [
          'create Farm f',
          'create ConfigMap settings-db',
          'create ConfigMap settings-web',
          'create StatefulSet db',
          'create Deployment web',
          'create Job migrate-a',
        ],
      ],
      [['StatefulSet db', 'Deployment web', 'Job migrate-a'], ['configure Farm f']],
    ]);
    expect(steps[1]?.objects[0]?.changes).to.deep.equal([
      { path: 'status.phase', from: 'Waiting', to: 'Ready' },
    ]);
  });

  it('contain one step per workload that waits for an earlier one, then prune', async () => {
    await run({});
    const { steps, settled, rollouts, objects } = await plan({ image: 'farm:2', workers: false });
    expect(settled).to.equal(true);
    expect(steps.map(did).slice(1)).to.deep.equal([
      [['StatefulSet db'], ['configure Deployment web']],
      [['Deployment web'], ['configure Farm f', 'prune ConfigMap settings-worker']],
    ]);
    expect(rollouts.map(({ ref }) => ref.name)).to.deep.equal(['db', 'web']);
    const actions = objects.filter(({ action }) => action !== 'unchanged');
    expect(actions.map(({ action, ref }) => `${action} ${ref.name}`)).to.have.members([
      ...['configure f', 'configure db', 'configure web'],
      ...['prune worker', 'prune settings-worker'],
    ]);
  });

  it('support an operator that finds its objects by an index', async () => {
    const indexed: OperatorDefinition = {
      name: 'indexed',
      setup: (manager) => {
        manager.index(ConfigMap, 'farm', ({ data }) => [data?.['farm']]);
        manager.add(
          controllerFor(Farm).complete(async ({ key: { namespace, name }, client: own }) => {
            const options = { namespace, index: { farm: name } };
            const { items } = await own.list(ConfigMap, options);
            if (items.length > 0) return done();
            const metadata = { name: 'child', namespace: namespace ?? '' };
            const data = { farm: name };
            await own.create<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
            return requeueAfter(1);
          }),
        );
      },
    };
    const { steps, settled, error } = await plan({}, indexed);
    expect(error).to.equal(undefined);
    expect(settled).to.equal(true);
    expect(steps.map(did)).to.deep.equal([[[], ['create Farm f', 'create ConfigMap child']]]);
  });

  const container = { name: 'c', image: 'farm:1' };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
  const selector = { matchLabels: { a: 'b' } };
  const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const ready = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
  const onlyRan = { ContainersReady: 'False', Ready: 'False' };
  const statuses: readonly [ofWhat: string, child: UnstructuredObject, status: object][] = [
    [
      'a DaemonSet',
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: {}, spec: { selector, template } },
      {
        ...{ observedGeneration: 1, desiredNumberScheduled: 1, currentNumberScheduled: 1 },
        ...{ numberMisscheduled: 0, updatedNumberScheduled: 1, numberReady: 1, numberAvailable: 1 },
      },
    ],
    [
      'a claim',
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {}, spec: storage },
      { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
    ],
    [
      'a Pod',
      { apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: template.spec },
      {
        phase: 'Running',
        qosClass: 'BestEffort',
        conditions: Object.fromEntries(ready.map((type) => [type, 'True'])),
      },
    ],
    [
      'a Pod that ends',
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {},
        spec: { ...template.spec, restartPolicy: 'Never' },
      },
      {
        phase: 'Succeeded',
        qosClass: 'BestEffort',
        conditions: { PodScheduled: 'True', Initialized: 'True', ...onlyRan },
      },
    ],
  ];
  for (const [what, child, expected] of statuses) {
    it(`wait for ${what}, and show what follows from its final status`, async () => {
      const { steps, settled, manifests } = await plan({}, copyingStatusOf(child));
      expect(settled).to.equal(true);
      expect(steps.map(did)).to.deep.equal([
        [[], ['create Farm f', `create ${child.kind} child`]],
        [[`${child.kind} child`], ['create ConfigMap seen']],
      ]);
      const seen = manifests.map(({ after }) => after as ConfigMap | undefined);
      const status = seen.find((object) => object?.metadata.name === 'seen')?.data?.['status'];
      const { startTime, conditions, ...rest } = JSON.parse(status ?? '{}') as ChildStatus;
      const types = conditions?.map((one) => [one.type, one.status] as const);
      const said = types === undefined ? {} : { conditions: Object.fromEntries(types) };
      expect({ ...rest, ...said }).to.deep.equal(expected);
      expect(startTime === undefined).to.equal(child.kind !== 'Pod');
    });
  }

  it('contain no changes in a steady state', async () => {
    await run({ workers: false });
    const { steps, settled, changed } = await plan({ workers: false });
    expect({ settled, changed }).to.deep.equal({ settled: true, changed: false });
    expect(steps.map(did)).to.deep.equal([[[], []]]);
  });

  it('revert changes of others, and continue after the rollout', async () => {
    await run({ workers: false });
    const patch = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
    await client.patch(Deployment, { ...key, name: 'web' }, patch);
    const { steps } = await plan({ workers: false });
    expect(steps.map(did)).to.deep.equal([
      [[], ['configure Farm f', 'configure Deployment web']],
      [['Deployment web'], ['configure Farm f']],
    ]);
  });

  it('include changes of other controllers of the operator', async () => {
    const { steps, settled } = await plan({ barn: 'red', workers: false });
    expect(settled).to.equal(true);
    const barn = steps[0]?.objects.find(({ ref }) => ref.kind === 'Barn');
    expect(barn?.action).to.equal('create');
    expect(steps.flatMap(did).flat()).to.include('configure Farm f');
    await run({ barn: 'red', workers: false });
    const next = await plan({ barn: 'blue', workers: false });
    const painted = next.objects.find(({ ref }) => ref.kind === 'Barn');
    expect(painted?.changes).to.deep.equal([
      { path: 'spec.color', from: 'red', to: 'blue' },
      { path: 'status.painted', from: 'red', to: 'blue' },
    ]);
  });

  it('stop with a message if the operator does not settle', async () => {
    const plans = await plan({ restless: true });
    expect(plans.settled).to.equal(false);
    expect(renderSteps(plans, {})).to.include('The operator did not settle');
  });

  it('name what pauses the resource', async () => {
    const Shed = defineResource({
      ...{ group: 'farms.example', kind: 'Shed' },
      versions: [
        {
          name: 'v1',
          schema: s.object({ spec: s.object({ size: s.integer() }) }),
          status: s.object({ conditions: s.conditions() }),
        },
      ],
    });
    await ensureCrd(client, Shed.crd);
    const sheds = new Operator('sheds');
    sheds
      .for(Shed)
      .owns(ConfigMap)
      .builds(({ builder }) => builder.configMap({ name: 'shed' }));
    const shed = (paused: string) => ({
      ...{ apiVersion: Shed.apiVersion, kind: 'Shed', spec: { size: 1 } },
      metadata: { name: 's', annotations: { 'operator-builder.io/paused': paused } },
    });
    const paused = await plan(shed('true'), sheds);
    expect(paused.paused).to.equal('annotation operator-builder.io/paused: "true"');
    expect(renderSteps(paused, {})).to.include(
      'It is paused (annotation operator-builder.io/paused: "true"): the operator changes nothing else.',
    );
    const running = await plan(shed('false'), sheds);
    expect([running.paused, running.error?.message]).to.deep.equal([undefined, undefined]);
    expect(did(running.steps[0]!)[1]).to.include('create ConfigMap shed');
  });

  it('are printed as text', async () => {
    await run({});
    const text = renderSteps(await plan({ image: 'farm:2', workers: false }), {});
    const lines = text.split('\n').filter((line) => !line.startsWith('    '));
    expect(lines).to.deep.equal([
      'Plan for Farm default/f',
      '~ Farm default/f configure',
      '~ StatefulSet default/db configure',
      '- Deployment default/worker prune',
      'then, once StatefulSet default/db is rolled out:',
      '~ Deployment default/web configure',
      'then, once Deployment default/web is rolled out:',
      '~ Farm default/f configure',
      '- ConfigMap default/settings-worker prune',
      '0 to create, 3 to configure, 0 to recreate, 2 to prune, 2 unchanged, 2 to roll out',
      '',
    ]);
    // The page shows this output.
    const page = await readFile('docs/plan.md', 'utf8');
    expect(page).to.include(text);
  });
});
