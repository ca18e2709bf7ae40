import { rollsPods } from '../../apply/index.js';
import type { ControllerKind } from '../../controller/index.js';
import {
  isJsonObject,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  apiVersionOf,
} from '../../object/index.js';
import type { KubernetesObject, TypeReference } from '../../object/index.js';
import { OperatorError, refuseUnknownOptions } from '../../system/index.js';
import type { ControllerEntry } from '../manager-entries.js';

/** An RBAC verb. Server-side apply needs `patch`, and `create` for objects that do not exist yet. */
export type AccessVerb =
  'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | '*';

/** Access that an operator needs to the objects of a kind. */
export interface RequiredAccess {
  readonly type: TypeReference<KubernetesObject>;
  readonly verbs: readonly AccessVerb[];
  /** Subresource, such as `status`. @defaultValue the object itself */
  readonly subresource?: string | undefined;
  /** Restricts the access to a namespace. @defaultValue all namespaces, or the cluster-scoped collection */
  readonly namespace?: string | undefined;
  /**
   * Restricts the access to objects with these names; an empty list allows access to no object. RBAC cannot
   * restrict create, list and watch by name. @defaultValue all
   */
  readonly names?: readonly string[] | undefined;
}

/**
 * Checks the access that a user requires, which becomes rules of a role: `verbs: 'list'` would become one verb for each
 * letter.
 * @throws OperatorError `InvalidOption`: names the field.
 */
export function checkRequiredAccess(requires: readonly RequiredAccess[]): void {
  const given: unknown = requires;
  if (!Array.isArray(given)) refuse('want a list', given);
  const known = {
    type: true,
    verbs: true,
    subresource: true,
    namespace: true,
    names: true,
  } as const;
  for (const access of requires) {
    refuseUnknownOptions<RequiredAccess>('requires', access, known);
    const { type, verbs, names = [] } = (access as Partial<RequiredAccess> | undefined) ?? {};
    const kind: unknown = type?.kind;
    if (typeof kind !== 'string') refuse('type: want a kind, such as ConfigMap', type);
    if (!isTexts(verbs)) refuse(`verbs of ${kind}: want a list such as ["get"]`, verbs);
    if (!isTexts(names)) refuse(`names of ${kind}: want a list of names`, names);
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function refuse(problem: string, got: unknown): never {
  throw new OperatorError('InvalidOption', `requires: ${problem}, got ${JSON.stringify(got)}`);
}

/** Verbs that a cache needs for each kind. */
export const watchVerbs: readonly AccessVerb[] = ['get', 'list', 'watch'];

/** Verbs for applying and pruning objects, besides `watchVerbs`. */
export const ownVerbs: readonly AccessVerb[] = ['create', 'patch', 'delete'];

/** Verbs for writing owned objects; the handlers may use any of them. */
const makeVerbs: readonly AccessVerb[] = ['create', 'update', 'patch', 'delete'];

/**
 * Returns the access that a controller declares: to watch its kinds, to write the status of its kind, to set
 * blocking owner references to it, and to write its owned kinds. If `requires` names a kind, it overrides the
 * write access for that kind.
 */
export function controllerAccess({
  controller,
  requires,
}: ControllerEntry): readonly RequiredAccess[] {
  const assumed = controller.kinds.flatMap((kind) => [
    { type: kind.type, verbs: watchVerbs },
    ...writesOf(kind).filter((write) => !requires.some((each) => isMoreNarrow(each, write))),
  ]);
  return [...assumed, ...requires];
}

function writesOf({ type, role }: ControllerKind): readonly RequiredAccess[] {
  switch (role) {
    case 'watched':
      return [];
    case 'owned':
      return [{ type, verbs: makeVerbs }];
    case 'reconciled':
      return [
        ...(hasStatus(type)
          ? [{ type, subresource: 'status', verbs: ['update', 'patch'] } as const]
          : []),
        { type, subresource: 'finalizers', verbs: ['update'] },
      ];
  }
}

/** Returns whether the CRD of a custom resource, if known, has a status subresource. */
function hasStatus(type: TypeReference<KubernetesObject>): boolean {
  const crd: unknown = 'crd' in type ? type.crd : undefined;
  const spec = isJsonObject(crd) ? crd['spec'] : undefined;
  const versions = isJsonObject(spec) ? spec['versions'] : undefined;
  return (
    Array.isArray(versions) &&
    versions.some((version: unknown) => {
      const subresources = isJsonObject(version) ? version['subresources'] : undefined;
      return isJsonObject(subresources) && subresources['status'] !== undefined;
    })
  );
}

/** Merges `access` to one entry per kind, subresource, namespace and names, in order of first occurrence. */
export function mergedAccess(access: readonly RequiredAccess[]): readonly RequiredAccess[] {
  const merged = new Map<string, RequiredAccess>();
  for (const each of access) {
    const { type, subresource = '', namespace = '', names = [] } = each;
    const place = [apiVersionOf(type), type.kind, subresource, namespace, ...names].join(' ');
    const verbs = [...(merged.get(place)?.verbs ?? []), ...each.verbs];
    const known = merged.get(place)?.type ?? type;
    // Keep the type with a known resource path.
    const best = 'plural' in known ? known : type;
    merged.set(place, { ...each, type: best, verbs: [...new Set(verbs)] });
  }
  return [...merged.values()];
}

/**
 * Returns true if an entry of `requires` replaces the write access to a kind. An entry that grants only
 * reads of some objects of the kind does not.
 */
function isMoreNarrow(
  { type, subresource, verbs, namespace, names }: RequiredAccess,
  write: RequiredAccess,
): boolean {
  const isOfSome = namespace !== undefined || names !== undefined;
  return (
    type.kind === write.type.kind &&
    apiVersionOf(type) === apiVersionOf(write.type) &&
    subresource === write.subresource &&
    !(isOfSome && verbs.every((verb) => watchVerbs.includes(verb)))
  );
}

/**
 * Returns the access that a `Builder` needs for its owned kinds, besides watching them; for `requires`. It
 * applies and prunes objects, lists the Pods of workloads, and grows the claims of StatefulSets. Not
 * included: deleting Pods, which only the option `unblock` does.
 */
export function builderAccess(
  owns: readonly TypeReference<KubernetesObject>[],
): readonly RequiredAccess[] {
  const metas = owns.map((type) => ({ apiVersion: apiVersionOf(type), kind: type.kind }));
  const hasSets = metas.some(
    ({ apiVersion, kind }) => kind === StatefulSet.kind && apiVersion === apiVersionOf(StatefulSet),
  );
  return [
    ...owns.map((type) => ({ type, verbs: ownVerbs })),
    ...(metas.some(rollsPods) ? [{ type: Pod, verbs: ['list'] } as const] : []),
    ...(hasSets ? [{ type: PersistentVolumeClaim, verbs: ['list', 'patch'] } as const] : []),
  ];
}
