import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { ConfigMap, isConditionTrue } from '../../lib/object/index.js';
import type { UnstructuredObject } from '../../lib/object/index.js';
import { Operator } from '../../lib/operator/index.js';
import { planResource } from '../../lib/plan/index.js';
import type { ResourcePlan } from '../../lib/plan/index.js';
import { silentLogger, systemClock } from '../../lib/system/index.js';
import { startOperator } from '../../lib/testing/index.js';

const key = { name: 'main', namespace: 'default' };

const diskClass = s.defaulted(s.string(), 'ssd');

/** A kind that is stored and reconciled in v1. In v2, the size is within an object. */
const Disk = defineResource({
  ...{ group: 'disks.example', kind: 'Disk' },
  versions: [
    {
      name: 'v1',
      storage: true,
      status: s.status(),
      schema: s.object({ spec: s.object({ size: s.integer(), class: diskClass }) }),
    },
    {
      name: 'v2',
      status: s.status(),
      schema: s.object({
        spec: s.object({ storage: s.object({ size: s.integer(), class: s.optional(s.string()) }) }),
      }),
    },
  ],
  conversion: {
    hub: 'v1',
    spokes: {
      v2: {
        toHub: ({ spec, ...disk }) => ({ ...disk, spec: spec.storage as never }),
        fromHub: ({ spec, ...disk }) => ({ ...disk, spec: { storage: spec } }),
      },
    },
  },
});

/** The schemas of each version of Lamp. All versions have the same fields. */
const lamp = {
  schema: s.object({ spec: s.object({ watts: s.integer() }) }),
  status: s.status(),
};
const Lamp = defineResource({
  ...{ group: 'lamps.example', kind: 'Lamp' },
  versions: [
    { name: 'v1', storage: true, ...lamp },
    { name: 'v2', ...lamp },
  ],
});

/** A resource whose conversion works only on objects with the defaults that the API server fills in. */
const Tank = defineResource({
  ...{ group: 'tanks.example', kind: 'Tank' },
  versions: [
    {
      name: 'v1',
      storage: true,
      status: s.status(),
      schema: s.object({ spec: s.object({ size: s.integer() }) }),
    },
    {
      name: 'v2',
      status: s.status(),
      schema: s.object({
        spec: s.object({ form: s.defaulted(s.object({ size: s.defaulted(s.integer(), 4) }), {}) }),
      }),
    },
  ],
  conversion: {
    hub: 'v1',
    spokes: {
      v2: {
        toHub: ({ spec, ...tank }) => ({ ...tank, spec: { size: spec.form.size } }),
        fromHub: ({ spec, ...tank }) => ({ ...tank, spec: { form: { size: spec.size } } }),
      },
    },
  },
});

const operator = new Operator('home');
operator
  .for(Tank)
  .owns(ConfigMap)
  .builds(({ object: { spec }, builder }) =>
    builder.configMap({ name: 'tank', data: { text: `${spec.size}` } }),
  );
operator
  .for(Disk)
  .owns(ConfigMap)
  .builds(({ object: { spec }, builder }) =>
    builder.configMap({ name: 'disk', data: { text: `${spec.size} ${spec.class}` } }),
  )
  .finalizes(() => undefined);
operator
  .for(Lamp)
  .owns(ConfigMap)
  .builds(({ object, builder }) =>
    builder.configMap({ name: 'lamp', data: { text: JSON.stringify(object.spec) } }),
  );

function given(kind: string, version: string, spec: object): UnstructuredObject {
  return { apiVersion: `${kind.toLowerCase()}s.example/${version}`, kind, metadata: key, spec };
}

describe('A plan for a resource given in another version than the controller reconciles', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Disk, Lamp, Tank] });
    client = cluster.client();
  });

  afterEach(() => cluster.stop());

  async function run(object: UnstructuredObject, fieldManager = 'kubectl'): Promise<void> {
    await client.apply(object, { fieldManager });
    const running = await startOperator(cluster, operator);
    await running.eventually(async () => {
      const live = await client.get<typeof object & { status?: { conditions?: [] } }>(object, key);
      expect(isConditionTrue(live.status?.conditions, 'Ready')).to.equal(true);
    });
    await running.stop();
  }

  const plan = (object: UnstructuredObject, serverSide?: boolean): Promise<ResourcePlan> => {
    const { signal } = new AbortController();
    const parts = { operator, client, signal, logger: silentLogger, clock: systemClock };
    return planResource(object, { ...parts, namespace: 'default', serverSide });
  };

  /** Returns the changes of the plan, without those of the resource's status. */
  function changesOf({ objects, error }: ResourcePlan): readonly unknown[] {
    if (error !== undefined) throw error;
    return objects.flatMap(({ ref, changes }) =>
      changes
        .filter(({ path }) => !path.startsWith('status') && !path.startsWith('metadata'))
        .map(({ path, from, to }) => [ref.kind, path, from, to]),
    );
  }

  for (const serverSide of [false, true]) {
    it(`gives the handler the converted object (${serverSide ? 'server' : 'client'}-side apply)`, async () => {
      await run(given('Disk', 'v1', { size: 1 }));
      const { changed } = await plan(given('Disk', 'v2', { storage: { size: 1 } }), serverSide);
      expect(changed).to.equal(false);
      const grown = await plan(given('Disk', 'v2', { storage: { size: 2 } }), serverSide);
      expect(changesOf(grown)).to.deep.equal([
        ['Disk', 'spec.size', 1, 2],
        ['ConfigMap', 'data.text', '1 ssd', '2 ssd'],
      ]);
    });
  }

  it('adds the defaults of the reconciled version to a resource that does not exist yet', async () => {
    const made = await plan(given('Disk', 'v2', { storage: { size: 3 } }));
    expect(changesOf(made)).to.deep.include(['ConfigMap', 'data', undefined, { text: '3 ssd' }]);
    expect(made.error).to.equal(undefined);
  });

  it('adds the defaults of the given version to a resource that does not exist yet, before it is converted', async () => {
    const made = await plan(given('Tank', 'v2', {}));
    expect(changesOf(made)).to.deep.include(['ConfigMap', 'data', undefined, { text: '4' }]);
  });

  it('contains no change of the objects if both versions have the same fields', async () => {
    await run(given('Lamp', 'v1', { watts: 5 }));
    const { objects } = await plan(given('Lamp', 'v2', { watts: 5 }), true);
    const changed = objects.filter(({ action }) => action !== 'unchanged');
    expect(changed.map(({ ref }) => ref.kind)).to.deep.equal([]);
  });
});
