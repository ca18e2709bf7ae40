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

/**
 * An RBAC verb. Server-side apply needs `patch`, and `create` for objects that do not exist yet. To grant rights that
 * it lacks itself, an operator needs `escalate` for the roles that it writes, and `bind` for those that it binds. `use`
 * is for the SecurityContextConstraints of OpenShift, `sign`, `approve` and `attest` for certificates. Other APIs have
 * verbs of their own.
 */
export type AccessVerb =
  | ('get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection')
  | ('bind' | 'escalate' | 'impersonate' | 'use' | 'sign' | 'approve' | 'attest' | '*')
  // Accepts other verbs, while editors still suggest those above.
  | (string & Record<never, never>);

/**
 * Access that an operator needs to the objects of a kind, or to paths of the API server that are not resources:
 * `{ nonResourceURLs: ['/metrics'], verbs: ['get'] }`.
 */
export type RequiredAccess =
  | {
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
      readonly nonResourceURLs?: undefined;
    }
  | {
      /** Paths such as `/metrics`; a `*` at the end stands for any rest. */
      readonly nonResourceURLs: readonly string[];
      readonly verbs: readonly (
        ('get' | 'head' | 'post' | 'put' | 'patch') | ('delete' | 'options' | '*')
      )[];
      readonly type?: undefined;
      readonly subresource?: undefined;
      readonly namespace?: undefined;
      readonly names?: undefined;
    };

/** Access to the objects of a kind. */
type ObjectAccess = Extract<RequiredAccess, { readonly type: object }>;

/**
 * Checks the access that a user requires, which becomes rules of a role: `verbs: 'list'` would become one verb for each
 * letter.
 * @throws OperatorError `InvalidOption`: names the field.
 */
export function checkRequiredAccess(requires: readonly RequiredAccess[]): void {
  const given: unknown = requires;
  if (!Array.isArray(given)) refuse('want a list', given);
  for (const access of requires) {
    const isOfPaths = (access as RequiredAccess | undefined)?.nonResourceURLs !== undefined;
    if (isOfPaths) checkPathAccess(access);
    else checkObjectAccess(access);
  }
}

function checkObjectAccess(access: RequiredAccess): void {
  const known = { type: true, verbs: true, subresource: true, namespace: true, names: true };
  refuseUnknownOptions<RequiredAccess>('requires', access, { ...known, nonResourceURLs: true });
  const { type, verbs, names = [] } = (access as Partial<RequiredAccess> | undefined) ?? {};
  const kind: unknown = type?.kind;
  if (typeof kind !== 'string') refuse('type: want a kind, such as ConfigMap', type);
  if (!isTexts(verbs)) refuse(`verbs of ${kind}: want a list such as ["get"]`, verbs);
  for (const verb of verbs ?? []) refuseMistyped(verb, `verbs of ${kind}`);
  if (!isTexts(names)) refuse(`names of ${kind}: want a list of names`, names);
}

/** RBAC allows no rule for both resources and paths. */
function checkPathAccess(access: RequiredAccess): void {
  const subject = 'requires with nonResourceURLs';
  refuseUnknownOptions<Pick<RequiredAccess, 'nonResourceURLs' | 'verbs'>>(subject, access, {
    ...{ nonResourceURLs: true, verbs: true },
  });
  const { nonResourceURLs: paths = [], verbs } = access;
  if (!isTexts(paths) || !paths.every((path) => path === '*' || path.startsWith('/'))) {
    refuse('nonResourceURLs: want a list of paths such as ["/metrics"]', paths);
  }
  if (!isTexts(verbs)) refuse(`verbs of ${paths.join()}: want a list such as ["get"]`, verbs);
  const wrong = verbs.find((verb) => !pathVerbs.includes(verb));
  const wanted = `want ${pathVerbs.join(', ')}`;
  if (wrong !== undefined) refuse(`verbs of ${paths.join()}: ${wanted}`, wrong);
}

/** The verb of a request for a path is its HTTP method in lower case. */
const pathVerbs: readonly string[] = [
  ...['get', 'head', 'post', 'put', 'patch', 'delete', 'options', '*'],
];

/** The verbs of Kubernetes. Others are legal: an API may review any word. */
const knownVerbs: readonly string[] = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['escalate', 'impersonate', 'approve', 'attest', 'bind', 'use', 'sign', '*'],
];

/**
 * The known verbs that come before `bind` in the list. `bind` and the verbs after it are so short that a word with one
 * letter more or less may be a verb of another API.
 */
const distinctVerbs = knownVerbs.slice(0, knownVerbs.indexOf('bind'));

/** Refuses a verb that is surely a mistake. RBAC accepts every text, and a mistyped verb grants nothing. */
function refuseMistyped(verb: string, where: string): void {
  if (knownVerbs.includes(verb)) return;
  if (/^$|[\s,]/.test(verb)) refuse(`${where}: want one verb in each entry`, verb);
  const lower = verb.toLowerCase();
  const meant =
    knownVerbs.find((known) => known === lower) ??
    distinctVerbs.find((known) => isSlip(lower, known));
  if (meant !== undefined) refuse(`${where}: did you mean ${JSON.stringify(meant)}?`, verb);
}

/**
 * Whether a word is probably a mistyped verb: one letter too many or too few, or two letters swapped. A wrong letter
 * counts only in a verb of more than five letters: `set` and `match` may be verbs of another API.
 */
function isSlip(word: string, verb: string): boolean {
  if (word.length !== verb.length) {
    const [long, short] = word.length > verb.length ? [word, verb] : [verb, word];
    return placesOf(long).some((at) => long.slice(0, at) + long.slice(at + 1) === short);
  }
  const [first = 0, ...others] = placesOf(verb).filter((at) => verb[at] !== word[at]);
  if (others.length === 0) return verb.length > 5;
  const isSwapped = word[first] === verb[first + 1] && word[first + 1] === verb[first];
  return others.length === 1 && others[0] === first + 1 && isSwapped;
}

function placesOf({ length }: string): readonly number[] {
  return Array.from({ length }, (_, at) => at);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function refuse(problem: string, got: unknown): never {
  throw new OperatorError('InvalidOption', `requires: ${problem}, got ${JSON.stringify(got)}`);
}

/** Verbs that a cache needs for each kind. */
export const watchVerbs: readonly AccessVerb[] = ['get', 'list', 'watch'];

/** Verbs for applying and pruning objects, in addition to `get`, `list` and `watch`. */
export const ownVerbs: readonly AccessVerb[] = ['create', 'patch', 'delete'];

/** Verbs for writing owned objects; the handlers may use any of them. */
const makeVerbs: readonly AccessVerb[] = ['create', 'update', 'patch', 'delete'];

/** Verbs that the server checks in addition to the verb of a request. */
const rightVerbs: readonly AccessVerb[] = ['bind', 'escalate', 'impersonate', 'use'];

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

function writesOf({ type, role }: ControllerKind): readonly ObjectAccess[] {
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

/**
 * Merges `access` to one entry per kind, subresource, namespace and names, or per paths, in order of first
 * occurrence.
 */
export function mergedAccess(access: readonly RequiredAccess[]): readonly RequiredAccess[] {
  const merged = new Map<string, RequiredAccess>();
  for (const each of access) {
    const { type, subresource = '', namespace = '', names = [], nonResourceURLs = [] } = each;
    const kind = type === undefined ? [] : [apiVersionOf(type), type.kind];
    const place = [...kind, subresource, namespace, ...names, ...nonResourceURLs].join(' ');
    const known = merged.get(place) ?? each;
    const verbs = new Set([...known.verbs, ...each.verbs]);
    // Keep the type with a known resource path.
    const best = known.type !== undefined && 'plural' in known.type ? known : each;
    // Either both entries are for a kind, or both are for paths.
    merged.set(place, { ...best, verbs: [...verbs] } as RequiredAccess);
  }
  return [...merged.values()];
}

/**
 * Returns true if an entry of `requires` replaces the write access to a kind. Two kinds of entries do not: an entry
 * that grants only reads of some objects of the kind, and an entry that has only verbs of {@link rightVerbs}, such as
 * `bind`.
 */
function isMoreNarrow(
  { type, subresource, verbs, namespace, names }: RequiredAccess,
  write: ObjectAccess,
): boolean {
  if (type === undefined || verbs.every((verb) => rightVerbs.includes(verb))) return false;
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
