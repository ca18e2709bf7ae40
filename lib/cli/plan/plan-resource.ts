import type { Plan } from '../../builder/index.js';
import type { Client } from '../../client/client.js';
import { getIfExists } from '../../client/get-if-exists.js';
import type { Controller } from '../../controller/index.js';
import { Manager } from '../../manager/index.js';
import type { OperatorDefinition } from '../../manager/index.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import { groupOfType } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { asError } from '../../system/as-error.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { planOf } from './plan-of.js';
import { PlannedObjects } from './planned-objects.js';
import { planningClient } from './planning-client.js';

/** What a plan is made with. */
export interface Planning {
  readonly operator: OperatorDefinition;
  /** Of the cluster. Nothing is stored. */
  readonly client: Client;
  /** Of what is namespaced and names none. */
  readonly namespace: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** What an operator would do for a custom resource. */
export interface ResourcePlan extends Plan {
  /** Whether another reconcile would change nothing more. */
  readonly settled: boolean;
  /** What the operator failed with, after what is planned. */
  readonly error?: Error;
}

/** An operator may need some: one that adds its finalizer first works at the next. */
const mostReconciles = 10;

/**
 * What an operator would do once `object` is applied: its own controllers reconcile it, with a client
 * whose writes are dry runs, until they change nothing more. What they fail with is part of the plan.
 * What they do only once something else has happened is not, such as pruning after a rollout.
 * @throws OperatorError `InvalidConfig`: no controller of the operator reconciles its kind
 * @throws OperatorError `UnknownKind`: the cluster does not serve its kind
 * @throws ApiError the cluster refuses the object
 */
export async function planResource(
  object: UnstructuredObject,
  planning: Planning,
): Promise<ResourcePlan> {
  const { operator, logger, clock, signal } = planning;
  const planned = new PlannedObjects();
  const client = planningClient(planning.client, { planned });
  const manager = new Manager({ client, logger, clock, rbacPreflight: 'off' });
  await operator.setup(manager);
  const controllers = controllersOf(manager, operator, object);
  const owner = await put(object, client, planning);
  const key = keyOf(owner);
  try {
    for (let round = 0; round < mostReconciles; round++) {
      const { revision } = planned;
      for (const controller of controllers) {
        await controller.reconcileOnce({ key, client, planning: true, clock, logger, signal });
      }
      if (planned.revision === revision) return { ...planOf(planned, owner), settled: true };
    }
    return { ...planOf(planned, owner), settled: false };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ...planOf(planned, owner), settled: false, error: asError(error) };
  }
}

function controllersOf(
  { controllers }: Manager,
  { name }: OperatorDefinition,
  object: UnstructuredObject,
): readonly Controller[] {
  const group = groupOfType(object);
  const own = controllers.filter(
    ({ type }) => type.kind === object.kind && groupOfType(type) === group,
  );
  if (own.length > 0) return own;
  const kinds = [...new Set(controllers.map(({ type }) => type.kind))].join(', ');
  const message = `operator ${name} reconciles no ${object.kind} of ${object.apiVersion}`;
  throw new OperatorError('InvalidConfig', `${message}; what it does: ${kinds || 'nothing'}`);
}

/** What `kubectl apply` would make of `object`, near enough: its fields are as they are given. */
async function put(
  object: UnstructuredObject,
  client: Client,
  { namespace, signal }: Planning,
): Promise<UnstructuredObject> {
  const type = await client.resourceType(object);
  const { metadata } = object;
  const place = type.namespaced ? { namespace: metadata.namespace ?? namespace } : {};
  const given = { ...object, metadata: { ...metadata, ...place } };
  const options = { fieldManager: 'operator-builder-plan', signal };
  const live = await getIfExists(client, type as ResourceType, keyOf(given), { signal });
  if (live === undefined) return client.create(given, options);
  const labels = { ...live.metadata.labels, ...metadata.labels };
  const annotations = { ...live.metadata.annotations, ...metadata.annotations };
  const merged = {
    ...live.metadata,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  const status = live['status'];
  const kept = status === undefined ? {} : { status };
  return client.update({ ...live, ...object, ...kept, metadata: merged }, options);
}
