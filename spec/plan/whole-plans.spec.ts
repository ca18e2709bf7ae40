import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { appliedHashAnnotation } from '../../lib/apply/index.js';
import { Builder } from '../../lib/builder/index.js';
import type { DeploymentOptions } from '../../lib/builder/index.js';
import { getIfExists } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { OperatorDefinition } from '../../lib/manager/index.js';
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  diffObjects,
  serverSetFields,
} from '../../lib/object/index.js';
import type { ObjectKey, ObjectReference, UnstructuredObject } from '../../lib/object/index.js';
import { planJson, planResource } from '../../lib/plan/index.js';
import type { ResourcePlan } from '../../lib/plan/index.js';
import { silentLogger } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/testing/index.js';

const host = s.object({ ip: s.string(), port: s.integer(), weight: s.integer() });
const Yard = defineResource({
  ...{ group: 'farms.example', kind: 'Yard' },
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({
          size: s.optional(s.integer()),
          template: s.optional(s.string()),
          hosts: s.optional(s.array(host, { listType: 'map', listMapKeys: ['ip', 'port'] })),
        }),
      }),
      status: s.object({ phase: s.optional(s.string()) }),
    },
  ],
});

const namespace = 'default';
const hashField = `metadata.annotations[${JSON.stringify(appliedHashAnnotation)}]`;
const force = { fieldManager: 'yards', force: true };
const selector = { matchLabels: { a: 'b' } };

function yard(name: string, spec: object = {}, place = namespace): UnstructuredObject {
  return { apiVersion: Yard.apiVersion, kind: 'Yard', metadata: { namespace: place, name }, spec };
}

function object(apiVersion: string, kind: string, name: string, rest: object): UnstructuredObject {
  return { apiVersion, kind, metadata: { namespace, name }, ...rest };
}

const configMap = (name: string, x: string): UnstructuredObject =>
  object('v1', 'ConfigMap', name, { data: { x } });
const secret = (name: string, x: string): UnstructuredObject =>
  object('v1', 'Secret', name, { data: { x: Buffer.from(x).toString('base64') } });

/** Returns a workload whose container has variables, by name. */
function workload(
  kind: string,
  name: string,
  image: string,
  variables: Record<string, string>,
  rest: object = {},
) {
  const env = Object.entries(variables).map(([variable, value]) => ({ name: variable, value }));
  const container = { name: 'c', image, ...(env.length > 0 && { env }) };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
  return object('apps/v1', kind, name, { spec: { selector, template, ...rest } });
}

type Reconcile = (client: Client, key: ObjectKey) => Promise<unknown>;

/** Returns an operator whose controller is added asynchronously. */
function acting(reconcile: Reconcile): OperatorDefinition {
  const controller = controllerFor(Yard).complete(async ({ client, key }) => {
    await reconcile(client, key);
    return done();
  });
  const setup: OperatorDefinition['setup'] = async (manager) => {
    await Promise.resolve();
    manager.add(controller);
  };
  return { name: 'yards', setup };
}

describe('A plan with all its steps', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Yard] });
    client = cluster.client();
  });

  afterEach(() => cluster.stop());

  function plan(reconcile: Reconcile, given = yard('y', { size: 1 })): Promise<ResourcePlan> {
    const { signal } = new AbortController();
    const surroundings = { clock: new VirtualClock(), logger: silentLogger, signal };
    return planResource(given, { operator: acting(reconcile), client, namespace, ...surroundings });
  }

  async function applyAll(to: Client, objects: readonly UnstructuredObject[]): Promise<void> {
    for (const each of objects) await to.apply(each, force);
  }

  const nameOf = ({ kind, name }: ObjectReference): string => `${kind} ${name}`;

  /** Returns objects and rollouts with names for references. */
  const told = ({ objects, rollouts }: Pick<ResourcePlan, 'objects' | 'rollouts'>) => ({
    objects: objects.map(({ ref, ...rest }) => ({ ref: nameOf(ref), ...rest })),
    rollouts: rollouts.map(({ ref, changes, causes }) => {
      return {
        ref: nameOf(ref),
        paths: changes.map(({ path }) => path),
        causes: causes.map(nameOf),
      };
    }),
  });

  it('shows that the server removes a default when another field changes', async () => {
    await client.create(yard('y'));
    const podSpec = { containers: [{ name: 'c', image: 'app:1' }] };
    const building =
      (options: Partial<DeploymentOptions>): Reconcile =>
      async (to, key) => {
        const owner = await to.get(Yard, key);
        const builder: Builder = new Builder({ client: to, owner, controllerName: 'yards' });
        await builder.deployment({ name: 'd', podSpec, ...options }).reconcile();
      };
    const key = { namespace, name: 'y' };
    await building({ spec: { minReadySeconds: 5 }, labels: { x: 'y' } })(client, key);
    const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 's:1' }] } } } };
    await client.apply(object('apps/v1', 'Deployment', 'd', side), { fieldManager: 'injector' });
    const recreate = building({ strategy: { type: 'Recreate' } });
    const recreating = await plan(recreate, yard('y'));
    expect([recreating.error, recreating.settled]).to.deep.equal([undefined, true]);
    const [deployment] = recreating.objects.filter(({ ref }) => ref.kind === 'Deployment');
    expect(deployment).to.deep.include({ action: 'configure', approximate: false });
    const before = await client.get(Deployment, { namespace, name: 'd' });
    await recreate(client, key);
    const after = await client.get(Deployment, { namespace, name: 'd' });
    const changed = diffObjects(before, after, { ignore: [...serverSetFields, hashField] });
    expect(deployment?.changes).to.deep.equal(changed);
    expect(changed.map(({ path }) => path)).to.have.members([
      ...['metadata.labels.x', 'spec.minReadySeconds'],
      ...['spec.strategy.rollingUpdate', 'spec.strategy.type'],
    ]);
    // A plan still reports other problems of an apply.
    const invalid = await plan(building({ strategy: { type: 'Sometimes' } }), yard('y'));
    expect(String(invalid.error)).to.include('"Sometimes"');
  });

  it('names list entries of a custom resource by the list map keys of its schema', async () => {
    const hosts = (...weights: number[]) =>
      weights.map((weight, index) => ({ ip: '10.0.0.1', port: 80 + index, weight }));
    await client.create(yard('y', { hosts: hosts(1, 2, 3) }));
    await client.create(yard('other', { hosts: hosts(1, 2) }));
    const { objects } = await plan(
      (own) => own.apply(yard('other', { hosts: hosts(1, 5) }), force),
      yard('y', { hosts: hosts(1, 2, 3).slice(1) }),
    );
    const paths = objects.map(({ ref, changes }) => [ref.name, changes.map(({ path }) => path)]);
    expect(paths).to.deep.equal([
      ['y', ['spec.hosts[ip=10.0.0.1,port=80]']],
      ['other', ['spec.hosts[ip=10.0.0.1,port=81].weight']],
    ]);
  });

  it('lists created, changed, recreated, unchanged and deleted objects', async () => {
    await applyAll(client, [
      configMap('same', '1'),
      configMap('changes', '1'),
      configMap('goes', '1'),
    ]);
    await applyAll(client, [yard('again', { size: 1 }), yard('silent', { size: 1 })]);
    for (const name of ['again', 'silent']) {
      const patch = { type: 'merge', body: { status: { phase: 'old' } } } as const;
      await client.patch(Yard, { namespace, name }, patch, { subresource: 'status' });
    }
    const room = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } };
    const later = { ...configMap('later', '1'), metadata: { namespace: 'new', name: 'later' } };
    let isFirst = true;
    const whole = await plan(async (own, { name }) => {
      if (name !== 'y' || !isFirst) return;
      isFirst = false;
      await applyAll(own, [configMap('same', '1'), configMap('changes', '2')]);
      await own.delete(ConfigMap, { namespace, name: 'goes' });
      await applyAll(own, [configMap('brief', '1')]);
      await own.delete(ConfigMap, { namespace, name: 'brief' });
      for (const each of ['again', 'silent']) {
        await own.delete(Yard, { namespace, name: each });
        await own.create(yard(each, { size: 2 }));
      }
      const patch = { type: 'merge', body: { status: { phase: 'new' } } } as const;
      await own.patch(Yard, { namespace, name: 'again' }, patch, { subresource: 'status' });
      await own.patch(Yard, { namespace, name: 'y' }, patch, { subresource: 'status' });
      await applyAll(own, [room, later, workload('Deployment', 'web', 'web:1', {})]);
    });
    const exact = { approximate: false };
    const unchanged = { ...exact, changes: [] };
    const size = { path: 'spec.size', from: 1, to: 2 };
    const reason = 'it is deleted and created again';
    const added = (path: string, to: unknown): object => ({ path, from: undefined, to });
    const phase = { path: 'status.phase', from: 'old', to: 'new' };
    const { spec } = workload('Deployment', 'web', 'web:1', {});
    expect(told(whole)).to.deep.equal({
      objects: [
        { ref: 'Yard y', action: 'create', ...exact, changes: [added('spec', { size: 1 })] },
        { ref: 'ConfigMap same', action: 'unchanged', ...unchanged },
        {
          ...{ ref: 'ConfigMap changes', action: 'configure', ...exact },
          changes: [{ path: 'data.x', from: '1', to: '2' }],
        },
        { ref: 'ConfigMap goes', action: 'prune', ...unchanged },
        { ref: 'Yard again', action: 'recreate', ...exact, changes: [size, phase], reason },
        { ref: 'Yard silent', action: 'recreate', ...exact, changes: [size], reason },
        { ref: 'Namespace new', action: 'create', ...unchanged },
        {
          ...{ ref: 'ConfigMap later', action: 'create', changes: [added('data', { x: '1' })] },
          ...{ approximate: true, reason: 'its namespace does not exist yet' },
        },
        { ref: 'Deployment web', action: 'create', ...exact, changes: [added('spec', spec)] },
      ],
      rollouts: [],
    });
    const status = (text: string): object => ({ status: { phase: text } });
    const [created, ...others] = whole.manifests;
    const deployment = others.pop();
    expect(created).to.deep.equal({
      ...{ action: 'create', after: { ...yard('y', { size: 1 }), ...status('new') } },
    });
    expect(deployment?.after).to.not.have.property('status');
    expect(others.filter(({ after }) => after?.kind !== 'Namespace')).to.deep.equal([
      { action: 'unchanged', before: configMap('same', '1'), after: configMap('same', '1') },
      { action: 'configure', before: configMap('changes', '1'), after: configMap('changes', '2') },
      { action: 'prune', before: configMap('goes', '1') },
      {
        action: 'recreate',
        before: { ...yard('again', { size: 1 }), ...status('old') },
        after: { ...yard('again', { size: 2 }), ...status('new') },
      },
      {
        action: 'recreate',
        before: { ...yard('silent', { size: 1 }), ...status('old') },
        after: { ...yard('silent', { size: 2 }), ...status('old') },
      },
      { action: 'create', after: later },
    ]);
  });

  it('names the ConfigMaps and Secrets that cause a rollout, if nothing else in the Pod template changes', async () => {
    const all = (x: string, image: string): readonly UnstructuredObject[] => [
      ...[configMap('db', x), configMap('shop-db', x), secret('keys', x), secret('unused', x)],
      workload('Deployment', 'map', 'web:1', { HASH_SHOP_DB: x, OTHER: '1' }),
      workload('Deployment', 'both', 'web:1', {
        CONFIGMAP_HASH_DB: x,
        SECRET_HASH_KEYS_0123ABCD: x,
      }),
      workload('StatefulSet', 'image', image, { HASH_DB: x }, { serviceName: '' }),
      workload('Deployment', 'first', 'web:1', x === '1' ? {} : { HASH_KEYS: x }),
      workload('DaemonSet', 'never', image, {}, { updateStrategy: { type: 'OnDelete' } }),
      yard('other', { template: x }),
    ];
    await applyAll(client, all('1', 'web:1'));
    const { rollouts } = await plan((own) => applyAll(own, all('2', 'web:2')));
    const container = 'spec.template.spec.containers[name=c]';
    const rollout = (
      ref: string,
      fields: readonly string[],
      causes: readonly string[],
    ): object => ({
      ...{ ref, paths: fields.map((field) => `${container}.${field}`), causes },
    });
    expect(told({ objects: [], rollouts }).rollouts).to.deep.equal([
      rollout('Deployment map', ['env[name=HASH_SHOP_DB].value'], ['ConfigMap shop-db']),
      rollout(
        'Deployment both',
        ['env[name=CONFIGMAP_HASH_DB].value', 'env[name=SECRET_HASH_KEYS_0123ABCD].value'],
        ['ConfigMap db', 'Secret keys'],
      ),
      rollout('StatefulSet image', ['image', 'env[name=HASH_DB].value'], []),
      rollout('Deployment first', ['env'], ['Secret keys']),
    ]);
  });

  it('calls the handler for each existing object of the kind once in each round', async () => {
    await client.create(yard('goes'));
    const calls: string[] = [];
    const { steps, settled } = await plan(async (own, { namespace: place = '', name }) => {
      calls.push(`${place}/${name}`);
      if (calls.length > 1) return;
      await applyAll(own, [yard('y', {}, 'kube-system'), yard('z')]);
      await own.delete(Yard, { namespace, name: 'goes' });
    });
    expect(settled).to.equal(true);
    expect(steps).to.have.lengthOf(1);
    const others = ['kube-system/y', 'default/z'];
    expect(calls).to.deep.equal(['default/y', 'default/y', ...others]);
  });

  it('calls the handler again after a round in which it created or deleted an object', async () => {
    await client.create(configMap('old', '1'));
    const { steps } = await plan(async (own) => {
      const has = async (name: string): Promise<boolean> =>
        (await getIfExists(own, ConfigMap, { namespace, name })) !== undefined;
      if (!(await has('one'))) await own.create(configMap('one', '1'));
      else if (await has('old')) await own.delete(ConfigMap, { namespace, name: 'old' });
      else if (!(await has('two'))) await own.create(configMap('two', '1'));
    });
    expect(steps.map(({ objects }) => objects.map(({ ref }) => nameOf(ref)))).to.deep.equal([
      ['Yard y', 'ConfigMap one', 'ConfigMap old', 'ConfigMap two'],
    ]);
  });

  it('shows that pods are replaced if a workload is deleted twice and at least one deletion deletes the pods', async () => {
    const agent = workload('DaemonSet', 'agent', 'web:1', {});
    const key = { namespace, name: 'agent' };
    await client.create(agent);
    for (const [first, second, reason] of [
      ['Orphan', 'Orphan', 'recreated; its pods stay'],
      ['Foreground', 'Orphan', 'it is deleted and created again'],
      ['Orphan', 'Foreground', 'it is deleted and created again'],
    ] as const) {
      let isFirst = true;
      const { objects } = await plan(async (own) => {
        if (!isFirst) return;
        isFirst = false;
        for (const propagationPolicy of [first, second]) {
          await own.delete(DaemonSet, key, { propagationPolicy });
          await own.create(agent);
        }
      });
      expect(objects.find(({ ref }) => ref.kind === 'DaemonSet')?.reason).to.equal(reason);
    }
  });

  it('ends after 10 rounds in which the handler still changes something, and after 30 steps', async () => {
    const deployment = (nth: number) => workload('Deployment', `d${nth}`, 'web:1', {});
    let count = 0;
    const restless = await plan((own) => {
      count++;
      return applyAll(own, [configMap('count', `${count}`), deployment(0)]);
    });
    expect({ count, settled: restless.settled }).to.deep.equal({ count: 10, settled: false });
    expect(restless.steps).to.have.lengthOf(1);
    const endless = await plan(async (own) => {
      const { items } = await own.list(Deployment, { namespace });
      const isReady = items.every(({ status }) => (status?.availableReplicas ?? 0) > 0);
      if (isReady) await applyAll(own, [deployment(items.length)]);
    });
    expect(endless.settled).to.equal(false);
    expect(endless.steps.map(({ after }) => after.map(nameOf))).to.deep.equal([
      [],
      ...Array.from({ length: 29 }, (_, nth) => [`Deployment d${nth}`]),
    ]);
  });

  it('contains the changes before an error, and the message of the error', async () => {
    const whole = await plan(async (own) => {
      await applyAll(own, [configMap('a', '1')]);
      throw new Error('no stock');
    });
    const { error, settled, changed, steps } = planJson(whole) as ResourcePlan;
    expect({ error, settled, changed }).to.deep.equal({
      ...{ error: 'no stock', settled: false, changed: true },
    });
    expect(steps.flatMap(({ objects }) => objects.map(({ ref }) => nameOf(ref)))).to.deep.equal([
      ...['Yard y', 'ConfigMap a'],
    ]);
  });
});
