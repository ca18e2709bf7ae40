import { isDeepStrictEqual } from 'node:util';
import { Deployment, getIfExists, ownVerbs, rolloutStatus, setCondition } from 'operator-builder';
import { Event, labelValueOf, systemClock } from 'operator-builder';
import type { ConditionUpdate, Manager } from 'operator-builder';
import { Framework, ResourceRouter, ResourceSet, withRetry, wrap } from 'operator-builder/resource';
import { objectsResource, wrapSteps } from 'operator-builder/resource';
import type { Resource, ResourceContext } from 'operator-builder/resource';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Names the finalizer, and who owns the fields that are written: keep it. */
const frameworkName = 'kindname';

/** What an object becomes. */
function deploymentOf({ metadata: { name = '', namespace }, spec }: KindName): Deployment {
  // A name may have 253 characters, a label 63.
  const matchLabels = { app: labelValueOf(name) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: namespace ?? 'default' },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels },
      template: {
        metadata: { labels: matchLabels },
        spec: { containers: [{ name: 'app', image: spec.image }] },
      },
    },
  };
}

/** The first of the chain: the Deployment. */
const deployment = objectsResource({
  name: 'deployment',
  types: [Deployment],
  getDesiredState: (_context, object: KindName) => [deploymentOf(object)],
});

/** The last of the chain: says on the object how far it is. */
const status: Resource<KindName> = {
  name: 'status',
  ensureCreated: async (context, object) =>
    writeReady(context, object, await rolloutOf(context, object)),
  // It goes with the object.
  ensureDeleted: async () => undefined,
};

/** Has a step that fails say so on the object; the framework makes an event of it. */
function withReady(resource: Resource<KindName>): Resource<KindName> {
  return wrapSteps(resource, async ({ context, object }, run) => {
    try {
      return await run();
    } catch (error) {
      const message = error instanceof Error ? error.message.slice(0, 1_000) : 'see the log';
      await writeReady(context, object, { status: 'False', reason: 'ReconcileFailed', message });
      throw error;
    }
  });
}

type Ready = Omit<ConditionUpdate, 'type' | 'observedGeneration'>;

async function rolloutOf({ client }: ResourceContext, object: KindName): Promise<Ready> {
  const { name = '', namespace } = deploymentOf(object).metadata;
  const found = await getIfExists(client, Deployment, { name, namespace });
  const isReady = found !== undefined && rolloutStatus(found).complete;
  return isReady
    ? { status: 'True', reason: 'RolledOut' }
    : { status: 'False', reason: 'RollingOut' };
}

async function writeReady(
  { client, signal }: ResourceContext,
  { metadata, status: before }: KindName,
  ready: Ready,
): Promise<void> {
  const { generation: observedGeneration = 0, name = '', namespace } = metadata;
  const condition = { type: 'Ready', ...ready, observedGeneration };
  const conditions = setCondition(before?.conditions ?? [], condition, systemClock);
  const wanted = { observedGeneration, conditions };
  // A write that changes nothing would wake this controller again.
  if (isDeepStrictEqual(wanted, before)) return;
  const patch = { type: 'merge', body: { status: wanted } } as const;
  await client.patch(KindName, { name, namespace }, patch, { subresource: 'status', signal });
}

/** Adds the controller to the manager. */
export function setupKindNameController(manager: Manager): void {
  const resources = wrap([deployment, status], withRetry, withReady);
  const set = new ResourceSet({ name: 'v1', handles: () => true, resources });
  const framework = new Framework({
    name: frameworkName,
    type: KindName,
    client: manager.client,
    resourceRouter: new ResourceRouter({ resourceSets: [set] }),
    configure: (controller) => controller.owns(Deployment),
  });
  framework.addTo(manager, {
    // Beside watching: what config/rbac/role.yaml has to allow, and what is asked for at the start.
    requires: [
      { type: KindName, subresource: 'status', verbs: ['patch'] },
      { type: Deployment, verbs: ownVerbs },
      { type: Event, verbs: ['create', 'patch'] },
    ],
  });
}
