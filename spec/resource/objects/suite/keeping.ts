import { isReconcileFailed } from '../../../../lib/apply/index.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import {
  configMapResource,
  isResourceFailed,
  newResourceContext,
  processDelete,
  processUpdate,
} from '../../../../lib/resource/index.js';
import type { Resource, ResourceContext } from '../../../../lib/resource/index.js';
import type { KeptObjectsOptions } from '../../../../lib/resource/objects/objects-resource.js';
import type { ResourceContextOptions } from '../../../../lib/resource/pass-context.js';
import { ConfigMap } from '../../../../lib/object/kinds.js';
import type { OperatorError } from '../../../../lib/system/operator-error.js';
import type { Scene } from '../../../builder/suite/scene.js';

/** Target of a part of the suite: a cluster to open a scene on. */
export type OpenScene = () => Promise<Scene>;

/** Options of one reconcile. */
export type PassOptions = Partial<ResourceContextOptions> & { readonly owner?: KubernetesObject };

/** Reconciles the scene's owner once, as a framework does. */
export async function keep(
  scene: Scene,
  resources: readonly Resource[],
  options: PassOptions = {},
): Promise<ResourceContext> {
  const { owner = scene.owner, ...given } = options;
  const context = newContext(scene, given);
  await processUpdate(context, owner, resources);
  return context;
}

/** Reconciles while the owner is in deletion. */
export async function leave(
  scene: Scene,
  resources: readonly Resource[],
  options: PassOptions = {},
): Promise<ResourceContext> {
  const { owner = scene.owner, ...given } = options;
  const context = newContext(scene, given);
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const leaving = { ...owner, metadata: { ...owner.metadata, deletionTimestamp } };
  await processDelete(context, leaving, resources);
  return context;
}

function newContext(scene: Scene, options: Partial<ResourceContextOptions>): ResourceContext {
  return newResourceContext({
    client: scene.operator.client,
    recorder: { record: (event) => scene.events.push(event) },
    clock: scene.target.clock,
    ...options,
  });
}

/** Returns a ConfigMap of the operator. */
export function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** Returns a resource that keeps these ConfigMaps; a list function runs in each reconcile. */
export function configMaps(
  desired: readonly ConfigMap[] | (() => readonly ConfigMap[]),
  options: Partial<KeptObjectsOptions<KubernetesObject, ConfigMap>> = {},
): Resource {
  const getDesiredState = (): readonly ConfigMap[] =>
    typeof desired === 'function' ? desired() : desired;
  return configMapResource({ name: 'settings', getDesiredState, ...options });
}

/** Failure of a reconcile. */
export interface PassFailure {
  readonly step: ResourceContext['step'];
  readonly message: string;
  /** Errors, one per object. */
  readonly errors: readonly OperatorError[];
}

/** Returns the failure of `pass`, which must fail in a resource. */
export async function failureOf(pass: Promise<unknown>): Promise<PassFailure> {
  try {
    await pass;
  } catch (error) {
    if (!isResourceFailed(error)) throw error;
    const { step, message, cause } = error;
    const errors = isReconcileFailed(cause) ? cause.errors : [cause as OperatorError];
    return { step, message, errors };
  }
  throw new Error('it did not fail');
}

/** Returns the names of the ConfigMaps with the labels of `resource`, in all given namespaces. */
export async function keptNames(scene: Scene, resource = 'settings'): Promise<readonly string[]> {
  const labelSelector = `operator-builder.io/resource=${resource}`;
  const { namespace } = scene;
  const { items } = await scene.admin.list(ConfigMap, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.name ?? '').sort();
}
