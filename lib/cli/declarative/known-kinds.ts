import { builtinKinds } from '../../apiserver/internal.js';
import type { KnownKinds } from '../../declarative/internal.js';
import { groupOf, groupOfType, isBuiltInGroup } from '../../object/index.js';
import type {
  CustomResourceDefinition,
  GroupKind,
  ResourceType,
  TypeReference,
} from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

/** A kind in any of its versions: the rules of a role name no version. */
interface KnownKind {
  readonly type: ResourceType;
  readonly hasStatus: boolean;
}

/**
 * Returns the built-in kinds and the kinds of `definitions`.
 * @param definitions - at least those of the custom kinds that the operators use
 */
export function knownKinds(definitions: readonly CustomResourceDefinition[]): KnownKinds {
  const kinds = new Map<string, KnownKind>();
  for (const kind of [...definitions.map(customKind), ...builtInOnes()]) {
    const key = keyOf(kind.type);
    if (!kinds.has(key)) kinds.set(key, kind);
  }
  return {
    resourceType: async (reference) => {
      const found = kinds.get(keyOf(reference));
      if (found === undefined) throw unknownKind(reference);
      return found.type as never;
    },
    hasStatus: (type) => kinds.get(keyOf(type))?.hasStatus ?? false,
  };
}

function keyOf(reference: TypeReference | GroupKind): string {
  return `${reference.kind}.${groupOfType(reference)}`;
}

function builtInOnes(): readonly KnownKind[] {
  return builtinKinds().map(({ type, subresources }) => {
    return { type, hasStatus: subresources.has('status') };
  });
}

function customKind({ spec }: CustomResourceDefinition): KnownKind {
  const { group, names, scope, versions } = spec;
  const [version] = versions;
  const type = {
    ...{ group, version: version?.name ?? '', kind: names.kind, plural: names.plural },
    namespaced: scope === 'Namespaced',
  };
  return { type, hasStatus: versions.some(({ subresources }) => subresources?.status) };
}

function unknownKind(reference: TypeReference | GroupKind): OperatorError {
  const group = 'apiVersion' in reference ? groupOf(reference.apiVersion) : reference.group;
  const what = `${reference.kind} of ${group === '' ? 'the core group' : group}`;
  const remedy = isBuiltInGroup(group)
    ? 'correct the kind or its apiGroup'
    : 'pass its CustomResourceDefinition with --crds, or --cluster';
  return new OperatorError(
    'UnknownKind',
    `${what}: unknown kind, so no role can name it; ${remedy}`,
  );
}
