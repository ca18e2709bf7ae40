import type { ControllerKind } from '../../controller/controller-definition.js';
import { isJsonObject } from '../../object/json.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { ControllerEntry } from '../manager-entries.js';
import { watchVerbs } from './required-access.js';
import type { AccessVerb, RequiredAccess } from './required-access.js';

/** Whoever makes objects may do it by any of these. */
const makeVerbs: readonly AccessVerb[] = ['create', 'update', 'patch', 'delete'];

/**
 * What a controller needs, as far as it declares it: to watch its kinds, to write the status of what it
 * reconciles, to say that this owns others (which is to block its deletion), to make what it owns. Where
 * `requires` names a kind, it says how that is written.
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

/** Whether the definition of a custom resource, where it is at hand, has a subresource for the status. */
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

/** `access` with one entry for each kind, subresource, namespace and names, in the order of their first. */
export function mergedAccess(access: readonly RequiredAccess[]): readonly RequiredAccess[] {
  const merged = new Map<string, RequiredAccess>();
  for (const each of access) {
    const { type, subresource = '', namespace = '', names = [] } = each;
    const place = [apiVersionOf(type), type.kind, subresource, namespace, ...names].join(' ');
    const verbs = [...(merged.get(place)?.verbs ?? []), ...each.verbs];
    const known = merged.get(place)?.type ?? type;
    // Where it is served is known of one that says it.
    const best = 'plural' in known ? known : type;
    merged.set(place, { ...each, type: best, verbs: [...new Set(verbs)] });
  }
  return [...merged.values()];
}

/** Whether something says how a kind is written; who reads some of its objects says nothing of that. */
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
