import { expect } from 'chai';
import { ensureCrd } from '../../../../lib/client/index.js';
import { isNotFound } from '../../../../lib/object/api-error.js';
import { isConditionTrue } from '../../../../lib/object/conditions.js';
import { ConfigMap } from '../../../../lib/object/kinds.js';
import type { KubernetesObject, ObjectKey } from '../../../../lib/object/kubernetes-object.js';
import type { TypeReference } from '../../../../lib/object/resource-type.js';
import {
  CrudResource,
  Framework,
  Patch,
  ResourceRouter,
  ResourceSet,
} from '../../../../lib/resource/index.js';
import type { CrudOperations, Resource, ResourceContext } from '../../../../lib/resource/index.js';
import type { CrashScenario } from '../../../../lib/testing/index.js';
import type {
  CrashCluster,
  CrashStage,
} from '../../../../lib/testing/crash-points/crash-scenario.js';
import { crdOf, typeOf } from './gadget.js';
import type { Gadget } from './gadget.js';

const name = 'shop';
const gadgetType = typeOf('Gadget') as TypeReference<Gadget>;

type Change = readonly ConfigMap[];

/** Keeps a ConfigMap for each part of a gadget: created, changed and deleted one by one. */
function partsOperations(version: string): CrudOperations<Gadget, Change, Change> {
  const keyOf = ({ metadata }: KubernetesObject): ObjectKey => ({
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
  });
  const missing = (from: Change, inside: Change): Change =>
    from.filter((one) => !inside.some((other) => other.metadata.name === one.metadata.name));
  return {
    name: 'parts',
    getCurrentState: async ({ client }, { metadata }) => {
      const { namespace = '' } = metadata;
      const read = (client as { live?: typeof client }).live ?? client;
      return (await read.list(ConfigMap, { namespace, labelSelector: 'made-by=gadgets' })).items;
    },
    getDesiredState: (_, { metadata, spec }) =>
      (spec?.parts ?? []).map((part) => ({
        ...{ apiVersion: 'v1' as const, kind: 'ConfigMap' as const },
        metadata: {
          namespace: metadata.namespace ?? '',
          name: `${name}-${part}`,
          labels: { 'made-by': 'gadgets' },
        },
        data: { size: spec?.size ?? '', version },
      })),
    newUpdatePatch: (_, __, { current, desired }) => {
      const changed = desired.filter((one) => {
        const live = current.find(({ metadata }) => metadata.name === one.metadata.name);
        return live !== undefined && JSON.stringify(live.data) !== JSON.stringify(one.data);
      });
      const patch = new Patch<Change>().setCreateChange(missing(desired, current));
      return patch.setDeleteChange(missing(current, desired)).setUpdateChange(changed);
    },
    newDeletePatch: (_, __, { current }) => new Patch<Change>().setDeleteChange(current),
    applyCreateChange: async ({ client }, _, made) => {
      for (const each of made) await client.create(each);
    },
    applyDeleteChange: async ({ client }, _, left) => {
      for (const each of left) await client.delete(ConfigMap, keyOf(each)).catch(unlessGone);
    },
    applyUpdateChange: async ({ client }, _, changed) => {
      for (const { data, ...each } of changed) {
        await client.patch(ConfigMap, keyOf(each), { type: 'merge', body: { data } });
      }
    },
  };
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

/** Reports the work done in the status. */
const statusResource: Resource<Gadget> = {
  name: 'status',
  ensureCreated: async ({ client }, { metadata, spec, status }) => {
    const size = spec?.size ?? '';
    if (status?.size === size) return;
    const { namespace = '', name: own = '' } = metadata;
    const patch = { type: 'merge', body: { status: { size } } } as const;
    await client.patch(gadgetType, { namespace, name: own }, patch, { subresource: 'status' });
  },
  ensureDeleted: async () => undefined,
};

/** Simulates a slow external deletion: the first reconcile keeps the finalizer, and an annotation records this. */
const slowResource: Resource<Gadget> = {
  name: 'slow',
  ensureCreated: async () => undefined,
  ensureDeleted: async (context: ResourceContext, { metadata }) => {
    const { namespace = '', annotations = {} } = metadata;
    if (annotations['asked'] === 'yes') return;
    const body = { metadata: { annotations: { asked: 'yes' } } };
    const key = { namespace, name: metadata.name ?? '' };
    await context.client.patch(gadgetType, key, { type: 'merge', body });
    context.keepFinalizers('it takes its time');
  },
};

function setOf(version: string): ResourceSet<Gadget> {
  return new ResourceSet<Gadget>({
    name: version,
    handles: ({ spec }) => spec?.version === version || spec?.version === 'both',
    resources: [
      new CrudResource({ operations: partsOperations(version) }),
      statusResource,
      slowResource,
    ],
  });
}

/**
 * The life of a gadget under a framework: created, changed, moved to another set, paused and
 * resumed, claimed by two sets, deleted with a slow external system.
 */
export function gadgetScenario<C extends CrashCluster>(): CrashScenario<C> {
  const edit = (named: string, body: object, until: Until): CrashScenario<C>['steps'][number] => ({
    name: named,
    change: ({ client, cluster }) =>
      client.patch(gadgetType, keyIn(cluster), { type: 'merge', body }),
    until,
  });
  return {
    name: 'a gadget',
    setup: ({ client, cluster }) => ensureCrd(client, crdOf('Gadget'), { clock: cluster.clock }),
    invariant: isHeldWhileItHasParts,
    kinds: [ConfigMap, gadgetType],
    operator: async ({ cluster, client, clock, random, signal }) => {
      const framework = new Framework<Gadget>({
        ...{ name: 'shop', type: gadgetType, client, clock, random },
        resourceRouter: new ResourceRouter({ resourceSets: [setOf('v1'), setOf('v2')] }),
        ...{ resyncPeriodMs: 3_600_000, keptFinalizerRetryMs: 300 },
      });
      const cacheOptions = { namespaces: [keyIn(cluster).namespace] };
      await framework.run(signal, { cacheOptions, rbacPreflight: 'off' });
    },
    steps: [
      {
        name: 'create',
        change: ({ client, cluster }) =>
          client.create<Gadget>({
            ...typeOf('Gadget'),
            metadata: keyIn(cluster),
            spec: { version: 'v1', size: 'small', parts: ['one', 'two'] },
          }),
        until: hasParts('v1', 'small', ['one', 'two']),
      },
      edit(
        'create, delete and update at once',
        { spec: { size: 'large', parts: ['two', 'three'] } },
        hasParts('v1', 'large', ['two', 'three']),
      ),
      edit('another set', { spec: { version: 'v2' } }, hasParts('v2', 'large', ['two', 'three'])),
      edit(
        'pause',
        { metadata: { annotations: { 'operator-builder.io/paused': 'true' } } },
        isTrue('Paused'),
      ),
      edit(
        'resume',
        { metadata: { annotations: { 'operator-builder.io/paused': null } } },
        hasParts('v2', 'large', ['two', 'three']),
      ),
      edit('overlap', { spec: { version: 'both' } }, isTrue('ResourceSetsOverlap')),
      edit('overlap over', { spec: { version: 'v2' } }, hasParts('v2', 'large', ['two', 'three'])),
      {
        name: 'delete',
        change: ({ client, cluster }) => client.delete(gadgetType, keyIn(cluster)),
        until: async ({ client, cluster }) =>
          (await mapsIn({ client, cluster })).length === 0 &&
          (await client.get(gadgetType, keyIn(cluster)).then(
            () => false,
            (error: unknown) => isNotFound(error),
          )),
      },
    ],
  };
}

/** Expects that no part is left of a deleted gadget, or of one without its finalizer. */
async function isHeldWhileItHasParts(stage: CrashStage<CrashCluster>): Promise<void> {
  if ((await mapsIn(stage)).length === 0) return;
  const { metadata } = await stage.client.get(gadgetType, keyIn(stage.cluster));
  expect(metadata.finalizers).to.deep.equal(['operator-builder.io/shop']);
}

type Until = (stage: CrashStage<CrashCluster>) => Promise<boolean>;

function keyIn({ namespace = 'default' }: CrashCluster): { name: string; namespace: string } {
  return { name, namespace };
}

async function mapsIn({ client, cluster }: CrashStage<CrashCluster>): Promise<Change> {
  const { namespace } = keyIn(cluster);
  return (await client.list(ConfigMap, { namespace, labelSelector: 'made-by=gadgets' })).items;
}

function hasParts(version: string, size: string, parts: readonly string[]): Until {
  return async (stage) => {
    const maps = await mapsIn(stage);
    const { status } = await stage.client.get(gadgetType, keyIn(stage.cluster));
    const names = maps.map(({ metadata }) => metadata.name).sort();
    const isSo = maps.every(({ data }) => data?.['size'] === size && data['version'] === version);
    const wanted = parts.map((part) => `${name}-${part}`).sort();
    const isQuiet = ['Paused', 'ResourceSetsOverlap'].every(
      (type) => !isConditionTrue(status?.conditions, type),
    );
    return isSo && isQuiet && status?.size === size && names.join() === wanted.join();
  };
}

function isTrue(type: string): Until {
  return async ({ client, cluster }) => {
    const { status } = await client.get(gadgetType, keyIn(cluster));
    return isConditionTrue(status?.conditions, type);
  };
}
