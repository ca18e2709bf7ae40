import { groupOf, versionOf } from '../../object/resource-type.js';
import { discoveryData } from '../../apiserver/kinds/discovery-data.js';

/** The fields by which kustomize identifies an object. */
export interface ResourceId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  /** Empty for cluster-scoped objects and those without a namespace. */
  readonly namespace: string;
}

/** Selects kinds; an absent field matches any value. */
export interface KindSelector {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
}

const noNamespace = '_non_namespaceable_';
let clusterScoped: ReadonlySet<string> | undefined;

/** Splits an `apiVersion` into group and version. */
export function groupVersionOf(apiVersion: string): Readonly<Record<'group' | 'version', string>> {
  return { group: groupOf(apiVersion), version: versionOf(apiVersion) };
}

/** Whether a kind is known to be cluster-scoped; the scope of custom resources is unknown. */
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

/** Returns the namespace of an object after apply, or a placeholder for cluster-scoped objects. */
export function effectiveNamespace(id: ResourceId): string {
  if (isClusterScoped(id)) return noNamespace;
  return id.namespace === '' ? 'default' : id.namespace;
}

/** Whether two identify the same object. */
export function isSameId(one: ResourceId, other: ResourceId): boolean {
  const isSameKind =
    one.group === other.group && one.version === other.version && one.kind === other.kind;
  const isSameName = one.name === other.name;
  return isSameKind && isSameName && effectiveNamespace(one) === effectiveNamespace(other);
}

/** Whether a selector matches an object's kind. */
export function isOfKind(id: KindSelector, { group, version, kind }: KindSelector): boolean {
  return fits(group, id.group) && fits(version, id.version) && fits(kind, id.kind);
}

function fits(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === '' || wanted === found;
}

/** Returns the text for an object in messages. */
export function idText({ kind, name, namespace }: ResourceId): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
