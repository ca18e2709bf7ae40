import type { Client } from '../../client/client.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { GroupKind, ResourceType, TypeReference } from '../../object/resource-type.js';
import { operatorOfViewGroup, viewGroupOf } from '../spec/operator-spec.js';
import type { ControllerSpec, ResourceSpec } from '../spec/operator-spec.js';
import type { PipelineInput } from '../spec/compile-controller.js';

/** What kinds are looked up with. */
export interface KindSearch {
  /** Whose views are meant where no group is given. */
  readonly operator: string;
  readonly client: Pick<Client, 'resourceType'>;
  readonly views: { ensure(operator: string, kind: string): Promise<ResourceType> };
}

/** The kinds of a controller. */
export interface ResolvedKinds {
  /** Of each input; undefined: it follows no objects. */
  readonly inputs: readonly (TypeReference<KubernetesObject> | undefined)[];
  readonly target: ResourceType;
}

/**
 * Finds the kinds of a controller; views are made. A native source that has a version need not be
 * served yet, the cache waits for it; all else has to be.
 * @throws OperatorError `UnknownKind`: a kind is not served.
 * @throws what discovery throws.
 */
export async function resolveKinds(
  inputs: readonly PipelineInput[],
  { target }: ControllerSpec,
  search: KindSearch,
): Promise<ResolvedKinds> {
  const types = inputs.map(async ({ spec }) =>
    spec.type === 'Watcher' ? resolveSource(spec, search) : undefined,
  );
  const found = resolveTarget(target, search);
  return { inputs: await Promise.all(types), target: await found };
}

async function resolveSource(
  spec: ResourceSpec,
  search: KindSearch,
): Promise<TypeReference<KubernetesObject>> {
  const reference = referenceTo(spec);
  if (reference !== undefined && 'apiVersion' in reference) return reference;
  return resolveTarget(spec, search);
}

async function resolveTarget(spec: ResourceSpec, search: KindSearch): Promise<ResourceType> {
  const reference = referenceTo(spec);
  if (reference !== undefined) return search.client.resourceType(reference);
  const { apiGroup = viewGroupOf(search.operator), kind } = spec;
  return search.views.ensure(operatorOfViewGroup(apiGroup) ?? search.operator, kind);
}

/** What to ask the server for; undefined: it is a view. */
function referenceTo({
  apiGroup: group,
  version,
  kind,
}: ResourceSpec): { readonly apiVersion: string; readonly kind: string } | GroupKind | undefined {
  if (group === undefined || operatorOfViewGroup(group) !== undefined) return undefined;
  if (version === undefined) return { group, kind };
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
