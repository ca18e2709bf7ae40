import { groupOf, versionOf } from '../../object/resource-type.js';
import { discoveryData } from '../../apiserver/kinds/discovery-data.js';

/** What kustomize knows an object by. */
export interface ResourceId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  /** Empty: none. */
  readonly namespace: string;
}

/** Of which kinds something is; a field that is missing is any. */
export interface KindSelector {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
}

const noNamespace = '_non_namespaceable_';
let clusterScoped: ReadonlySet<string> | undefined;

/** The group and version of an `apiVersion`. */
export function groupVersionOf(apiVersion: string): Readonly<Record<'group' | 'version', string>> {
  return { group: groupOf(apiVersion), version: versionOf(apiVersion) };
}

/** Whether a kind is one of the whole cluster for sure: of custom resources nobody knows. */
export function isClusterScoped({ group, version, kind }: Omit<ResourceId, 'name' | 'namespace'>) {
  clusterScoped ??= clusterScopedKinds();
  return clusterScoped.has(`${group}/${version}/${kind}`);
}

function clusterScopedKinds(): ReadonlySet<string> {
  const { core, groups } = discoveryData();
  const names = [...core, ...groups].flatMap(({ metadata: { name: group = '' }, versions }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources
        .filter(({ scope }) => scope !== 'Namespaced')
        .map(({ responseKind: { kind } }) => `${group}/${version}/${kind}`),
    ),
  );
  return new Set(names);
}

/** The namespace that an object is in, once applied; one word of its own for those that are in none. */
export function effectiveNamespace(id: ResourceId): string {
  if (isClusterScoped(id)) return noNamespace;
  return id.namespace === '' ? 'default' : id.namespace;
}

/** Whether two are the same object. */
export function isSameId(one: ResourceId, other: ResourceId): boolean {
  const isSameKind =
    one.group === other.group && one.version === other.version && one.kind === other.kind;
  const isSameName = one.name === other.name;
  return isSameKind && isSameName && effectiveNamespace(one) === effectiveNamespace(other);
}

/** Whether an object is of the kinds that a selector names. */
export function isOfKind(id: KindSelector, { group, version, kind }: KindSelector): boolean {
  return fits(group, id.group) && fits(version, id.version) && fits(kind, id.kind);
}

function fits(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === '' || wanted === found;
}

/** How an object is named in messages. */
export function idText({ kind, name, namespace }: ResourceId): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
