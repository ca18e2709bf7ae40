import type { Client } from '../../client/client.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { GroupKind, ResourceType, TypeReference } from '../../object/resource-type.js';
import { operatorOfViewGroup, viewGroupOf } from '../spec/operator-spec.js';
import type { ControllerSpec, ResourceSpec } from '../spec/operator-spec.js';
import type { PipelineInput } from '../spec/compile-controller.js';

/** Context of a look-up of kinds. */
export interface KindSearch {
  /** The operator whose views a kind without a group refers to. */
  readonly operator: string;
  readonly client: Pick<Client, 'resourceType'>;
  readonly views: { ensure(operator: string, kind: string): Promise<ResourceType> };
}

/** The kinds of a controller. */
export interface ResolvedKinds {
  /** The kind of each input; undefined if the input follows no objects. */
  readonly inputs: readonly (TypeReference<KubernetesObject> | undefined)[];
  readonly target: ResourceType;
}

/**
 * Resolves the kinds of a controller, and creates its views. A native source with a version need not be
 * served yet: the cache waits for it. All other kinds must be served.
 * @throws OperatorError `UnknownKind`: a kind is not served.
 * @throws the error of discovery.
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

/** Returns the type to look up at the server; undefined for a view. */
function referenceTo({
  apiGroup: group,
  version,
  kind,
}: ResourceSpec): { readonly apiVersion: string; readonly kind: string } | GroupKind | undefined {
  if (group === undefined || operatorOfViewGroup(group) !== undefined) return undefined;
  if (version === undefined) return { group, kind };
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}
