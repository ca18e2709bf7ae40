import type { Client } from '../../lib/client/client.js';
import { CrudResource, Patch } from '../../lib/resource/crud-resource.js';
import type { CrudResourceOptions, CrudOperations } from '../../lib/resource/crud-resource.js';
import { newResourceContext } from '../../lib/resource/pass-context.js';
import type { ResourceContextOptions } from '../../lib/resource/pass-context.js';
import type { Resource } from '../../lib/resource/resource-set.js';
import type { ResourceContext, StepName } from '../../lib/resource/resource-context.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';

/** Object that the chains of these specs reconcile. */
export const tenant: KubernetesObject = {
  apiVersion: 'example.com/v1',
  kind: 'Tenant',
  metadata: { name: 'acme', namespace: 'shop' },
};

/** Returns a new context. These specs never use the API. */
export function newPass(options: Partial<ResourceContextOptions> = {}): ResourceContext {
  return newResourceContext({ client: {} as Client, ...options });
}

/** Actions of steps, besides recording that they ran. */
export type Acts = Partial<
  Record<StepName, (context: ResourceContext, object: KubernetesObject) => unknown>
>;

/** Resources that record their steps as `name.step`. */
export class Notes {
  readonly ran: string[] = [];

  /** Returns a resource with two methods. */
  plain(name: string, acts: Acts = {}): Resource {
    const step =
      (method: StepName) => async (context: ResourceContext, object: KubernetesObject) => {
        this.ran.push(`${name}.${method}`);
        await acts[method]?.(context, object);
      };
    return { name, ensureCreated: step('ensureCreated'), ensureDeleted: step('ensureDeleted') };
  }

  /** Returns a CRUD resource whose patches have all three parts. */
  crud(name: string, acts: Acts = {}, options: CrudOptions = {}): CrudResource {
    return new CrudResource({ operations: this.operations(name, acts), ...options });
  }

  operations(name: string, acts: Acts = {}): CrudOperations<KubernetesObject, unknown, unknown> {
    const step =
      <R>(method: StepName, result: R) =>
      async (context: ResourceContext, object: KubernetesObject): Promise<R> => {
        this.ran.push(`${name}.${method}`);
        const returned = await acts[method]?.(context, object);
        return returned === undefined ? result : (returned as R);
      };
    return {
      name,
      getCurrentState: step('getCurrentState', 'current'),
      getDesiredState: step('getDesiredState', 'desired'),
      newUpdatePatch: step('newUpdatePatch', wholePatch()),
      newDeletePatch: step('newDeletePatch', wholePatch()),
      applyCreateChange: step('applyCreateChange', undefined),
      applyDeleteChange: step('applyDeleteChange', undefined),
      applyUpdateChange: step('applyUpdateChange', undefined),
    };
  }
}

type CrudOptions = Pick<CrudResourceOptions<KubernetesObject, unknown, unknown>, 'order'>;

/** Patch whose parts are all set, to undefined. */
export function wholePatch(): Patch<unknown> {
  const patch = new Patch<unknown>();
  return patch.setCreateChange(undefined).setDeleteChange(undefined).setUpdateChange(undefined);
}

/** Steps of a CRUD resource while its object exists, in order. */
export const updateSteps = [
  ...(['getCurrentState', 'getDesiredState', 'newUpdatePatch'] as const),
  ...(['applyCreateChange', 'applyDeleteChange', 'applyUpdateChange'] as const),
];

/** Steps of a CRUD resource while its object is in deletion, in order. */
export const deleteSteps = updateSteps.map((step) =>
  step === 'newUpdatePatch' ? 'newDeletePatch' : step,
);

/** Resolves to the error with which `promise` rejects. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was not rejected');
}
