import { isJsonObject } from '../../object/json.js';
import type { Json } from './json-values.js';
import { objectAt, textAt } from './json-values.js';
import { visitField } from './field-spec.js';
import type { FieldSpec, Place } from './field-spec.js';
import { kustomizationError } from './kustomization-error.js';
import type { Resource } from './resource.js';
import { effectiveNamespace, idText, isClusterScoped, isOfKind } from './resource-id.js';
import type { KindSelector, ResourceId } from './resource-id.js';
import type { NameReference } from './transform-specs.js';

/** A field of an object, and the objects that it may name. */
interface Reference {
  readonly from: Resource;
  readonly to: KindSelector;
  readonly spec: FieldSpec;
  readonly candidates: readonly Resource[];
  /** For messages. */
  readonly file: string;
}

/**
 * Updates every field that names a renamed or moved object.
 * @param file - for messages
 * @throws OperatorError `InvalidConfig`: a name is ambiguous
 */
export function fixNameReferences(
  resources: readonly Resource[],
  references: readonly NameReference[],
  file: string,
): void {
  const fixes = resources.flatMap((from) => {
    const candidates = reachable(from, resources);
    return references.flatMap(({ fieldSpecs, ...to }) =>
      fieldSpecs
        .filter((spec) => isOfKind(from.originalId, spec))
        .map((spec): Reference => ({ from, to, spec, candidates, file })),
    );
  });
  for (const reference of fixes) {
    const visit = (place: Place): void => fix(place, reference);
    visitField(reference.from.object, reference.spec, { visit });
  }
}

/**
 * Returns the objects that one may refer to: for a namespaced one, those of its namespace, of its subjects'
 * namespaces and the cluster-scoped ones.
 */
function reachable(from: Resource, resources: readonly Resource[]): readonly Resource[] {
  const { id } = from;
  if (isClusterScoped(id)) return resources;
  const own = effectiveNamespace(id);
  const granted = namespacesOfSubjects(from);
  return resources.filter((one) => {
    if (isClusterScoped(one.id) || effectiveNamespace(one.id) === own) return true;
    return granted.has(one.namespace);
  });
}

/** A RoleBinding can name accounts of other namespaces. */
function namespacesOfSubjects({ object }: Resource): ReadonlySet<string> {
  const subjects = object['kind'] === 'RoleBinding' ? object['subjects'] : undefined;
  const list: readonly unknown[] = Array.isArray(subjects) ? subjects : [];
  const accounts = list
    .filter((one): one is Json => isJsonObject(one) && one['kind'] === 'ServiceAccount')
    .map((one) => textAt(one, 'namespace'));
  return new Set(accounts.filter((namespace) => namespace !== ''));
}

function fix({ value, set }: Place, reference: Reference): void {
  if (typeof value === 'string') {
    const found = referred(value, reference, (one) => one.name);
    if (found !== undefined) set(found.name);
  } else if (Array.isArray(value)) {
    const items = value as unknown[];
    for (const [index, item] of items.entries()) {
      fix({ value: item, set: (to) => (items[index] = to) }, reference);
    }
  } else if (isJsonObject(value)) {
    fixNamed(value, reference);
  }
}

/** Updates a reference with a name and an optional namespace, which must both match. */
function fixNamed(value: Json, reference: Reference): void {
  const name = textAt(value, 'name');
  const candidates =
    'namespace' in value
      ? inNamespace(textAt(value, 'namespace'), reference.candidates)
      : reference.candidates;
  const found = referred(
    name,
    { ...reference, candidates },
    (one) => `${one.namespace}/${one.name}`,
  );
  if (found === undefined) return;
  value['name'] = found.name;
  if (found.namespace !== '') value['namespace'] = found.namespace;
}

function inNamespace(namespace: string, candidates: readonly Resource[]): readonly Resource[] {
  const was = candidates.filter((one) => effectiveNamespace(one.originalId) === namespace);
  if (was.length > 0) return was;
  return candidates.filter((one) => effectiveNamespace(one.id) === namespace);
}

/** @param used - the part of the object that the reference uses; candidates equal in it count as one */
function referred(
  name: string,
  reference: Reference,
  used: (one: Resource) => string,
): Resource | undefined {
  const { from, to, candidates, file } = reference;
  const role = roleSelector(reference);
  const named = candidates.filter(
    (one) =>
      one.previousIds.some((id) => id.name === name) &&
      wasOfKind(one, to) &&
      (role === undefined || wasOfKind(one, role)) &&
      isVisible(one.id, from.id),
  );
  if (named.length === 1) return named[0];
  let close = named.filter((one) => isOfSameLayer(one, from, true));
  if (close.length > 1) close = close.filter((one) => isOfSameLayer(one, from, false));
  const [first, ...others] = close;
  if (first === undefined) return undefined;
  if (others.every((other) => used(other) === used(first))) return first;
  const several = close.map(({ id }) => idText(id)).join(', ');
  throw kustomizationError(
    file,
    `${idText(from.id)} names ${name} in ${reference.spec.path}, which may be any of ${several}`,
  );
}

const wasOfKind = (one: Resource, kind: KindSelector): boolean =>
  one.previousIds.some((id) => isOfKind(id, kind));

/** A binding's `roleRef` names the kind of the role. */
function roleSelector({ from, spec }: Reference): KindSelector | undefined {
  const roleRef = spec.path.endsWith('roleRef/name') ? objectAt(from.object, 'roleRef') : undefined;
  const [group, kind] = [textAt(roleRef, 'apiGroup'), textAt(roleRef, 'kind')];
  return group === '' || kind === '' ? undefined : { group, kind };
}

function isVisible(id: ResourceId, from: ResourceId): boolean {
  if (isClusterScoped(from) || isClusterScoped(id) || id.kind === 'ServiceAccount') return true;
  return effectiveNamespace(id) === effectiveNamespace(from);
}

/** Whether both have the same prefixes and suffixes; lower layers may have added more to one. */
function isOfSameLayer(one: Resource, other: Resource, isEmptyAny: boolean): boolean {
  const isAlike = (a: readonly string[], b: readonly string[]): boolean => {
    if (a.length === 0 || b.length === 0) return isEmptyAny || a.length === b.length;
    const length = Math.min(a.length, b.length);
    return a.slice(-length).join() === b.slice(-length).join();
  };
  return isAlike(one.prefixes, other.prefixes) && isAlike(one.suffixes, other.suffixes);
}
