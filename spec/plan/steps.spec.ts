import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { planResource } from '../../lib/plan/plan-resource.js';
import type { PlanStep, ResourcePlan } from '../../lib/plan/plan-resource.js';
import { renderSteps } from '../../lib/plan/render-steps.js';
import { ensureCrd } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { Client } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { controllerFor, done, requeueAfter } from '../../lib/controller/index.js';
import { Manager } from '../../lib/manager/index.js';
import type { OperatorDefinition } from '../../lib/manager/index.js';
import { ConfigMap, Deployment } from '../../lib/object/kinds.js';
import type { KubernetesObject, UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { Operator, patchStatus } from '../../lib/operator/index.js';
import { objectsResource, resourceChain } from '../../lib/resource/index.js';
import { silentLogger } from '../../lib/system/logger.js';
import { systemClock } from '../../lib/system/clock.js';
import { Barn, Farm, operator } from '../cli/project/farm/src/operator.js';

const key = { namespace: 'default', name: 'f' };

function farm(spec: object): UnstructuredObject {
  return { apiVersion: Farm.apiVersion, kind: 'Farm', metadata: { name: 'f' }, spec };
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

  it('include objects of a controller with sharding', async () => {
    const shared = new Operator('farmers');
    shared
      .for(Farm, { status: false })
      .owns(ConfigMap)
      .runsOn('shards')
      .builds(({ builder }) => builder.configMap({ name: 'field' }));
    const { steps } = await plan({ migration: 'a', workers: false }, shared);
    expect(steps.flatMap((step) => did(step)[1])).to.include('create ConfigMap field');
  });

  it('begin with the first objects and end with the final status', async () => {
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

  it('are one step for each workload that waits for an earlier workload, and then a step that prunes', async () => {
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

  it('contain no changes if the operator has nothing to change', async () => {
    await run({ workers: false });
    const { steps, settled, changed } = await plan({ workers: false });
    expect({ settled, changed }).to.deep.equal({ settled: true, changed: false });
    expect(steps.map(did)).to.deep.equal([[[], []]]);
  });

  it('revert changes of other clients, and continue after the rollout', async () => {
    await run({ workers: false });
    const patch = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
    await client.patch(Deployment, { ...key, name: 'web' }, patch);
    const { steps } = await plan({ workers: false });
    expect(steps.map(did)).to.deep.equal([
      [[], ['configure Farm f', 'configure Deployment web']],
      [['Deployment web'], ['configure Farm f']],
    ]);
  });

  it('include changes that other controllers of the same operator make', async () => {
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

  it('stop with a message if the operator makes changes without end', async () => {
    const plans = await plan({ restless: true });
    expect(plans.settled).to.equal(false);
    expect(renderSteps(plans, {})).to.include('The operator did not settle');
  });

  it('name the annotation that pauses the resource', async () => {
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

  it('end with the message of the handler that still waits', async () => {
    const waiting = new Operator('waiting');
    waiting.for(Farm, { status: false }).reconciles(() => requeueAfter(1_000, 'seeds are ordered'));
    const { waits, settled } = await plan({}, waiting);
    expect({ waits, settled }).to.deep.equal({ waits: 'seeds are ordered', settled: true });
    const Mill = defineResource({
      ...{ group: 'farms.example', kind: 'Mill' },
      versions: [
        {
          name: 'v1',
          schema: s.object({ spec: s.object({}) }),
          status: s.object({ conditions: s.conditions() }),
        },
      ],
    });
    await ensureCrd(client, Mill.crd);
    const mill = { apiVersion: Mill.apiVersion, kind: 'Mill', metadata: { name: 'm' }, spec: {} };
    const wheel = { name: 'wheel', podSpec: { containers: [{ name: 'wheel', image: 'wheel:1' }] } };
    const mills = new Operator('mills');
    mills
      .for(Mill)
      .owns(Deployment)
      .builds(({ builder, status }) => {
        status.setWaiting('the river is low');
        return builder.deployment(wheel);
      });
    const building = await plan(mill, mills);
    expect(building.waits).to.equal('the river is low');
    expect(renderSteps(building, {})).to.include('The plan ends at a wait: the river is low\n');
    expect((await plan({ workers: false })).waits).to.equal(undefined);
  });

  it('do not contain the message of another controller that waits', async () => {
    const Loan = defineResource({
      ...{ group: 'bank.example', kind: 'Loan' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }), status: s.status() }],
    });
    await ensureCrd(client, Loan.crd);
    const given = { apiVersion: Loan.apiVersion, kind: 'Loan', metadata: { name: 'l' }, spec: {} };
    const loan = await client.create({ ...given, metadata: { name: 'l', namespace: 'default' } });
    const wait = (fieldManager: string, message: string): Promise<unknown> =>
      patchStatus(
        client,
        loan,
        { conditions: [{ type: 'Ready', status: 'False', reason: 'Waiting', message }] },
        { fieldManager },
      );
    const loans = new Operator('loans');
    loans
      .for(Loan, { status: false })
      .owns(ConfigMap)
      .builds(({ builder }) => builder.configMap({ name: 'loan' }));
    await wait('bank', 'the bank is closed');
    expect((await plan(given, loans)).waits).to.equal(undefined);
    await wait('loans', 'the loan is too high');
    expect((await plan(given, loans)).waits).to.equal('the loan is too high');
  });

  it('end with the message that a chain waits, although its rollouts are complete', async () => {
    const Mill = defineResource({
      ...{ group: 'farms.example', kind: 'Watermill' },
      versions: [{ name: 'v1', schema: s.object({ spec: s.object({}) }), status: s.status() }],
    });
    await ensureCrd(client, Mill.crd);
    const labels = { app: 'wheel' };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'wheel', image: 'wheel:1' }] },
    };
    const chained = new Operator('watermills');
    chained
      .for(Mill)
      .owns(Deployment)
      .uses(
        resourceChain([
          objectsResource({
            ...{ name: 'wheel', types: [Deployment], waitUntilReady: true },
            getDesiredState: (_context, { metadata: { namespace = '' } }: KubernetesObject) => [
              {
                ...{
                  apiVersion: 'apps/v1',
                  kind: 'Deployment',
                  metadata: { name: 'w', namespace },
                },
                spec: { selector: { matchLabels: labels }, template },
              },
            ],
          }),
          {
            name: 'river',
            ensureCreated: (context) => {
              context.cancelReconciliation('the river is low');
              return Promise.resolve();
            },
            ensureDeleted: () => Promise.resolve(),
          },
        ]),
      );
    const mill = {
      ...{ apiVersion: Mill.apiVersion, kind: 'Watermill' },
      metadata: { name: 'm' },
      spec: {},
    };
    const { steps, waits } = await plan(mill, chained);
    expect(steps.map(({ after }) => after.map(({ name }) => name))).to.deep.equal([[], ['w']]);
    expect(waits).to.equal('waits for river (the river is low)');
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
    // docs/plan.md shows this output.
    const page = await readFile('docs/plan.md', 'utf8');
    expect(page).to.include(text);
  });
});
