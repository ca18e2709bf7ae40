import type { KindRegistry, ServedKind } from '../kinds/served-kind.js';
import { discoveryData } from '../kinds/documents.js';

/** A version of a group and its kinds, sorted by plural. */
export interface ServedVersion {
  readonly version: string;
  readonly kinds: readonly ServedKind[];
}

/** A group and its versions, the preferred one first. */
export interface ServedGroup {
  /** The name; empty for the core group. */
  readonly name: string;
  readonly versions: readonly ServedVersion[];
}

/** Returns whether a listener serves a group. */
export type ServesGroup = (group: string) => boolean;

/** Returns the served groups: built-in groups in the real server's order, then those of CRDs by name. */
export function servedGroups(kinds: KindRegistry): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, ServedKind[]>>();
  // Include groups without resources in the data.
  for (const { metadata, versions } of [...discoveryData().core, ...discoveryData().groups]) {
    const own = versions.map(({ version }) => [version, []] as [string, ServedKind[]]);
    groups.set(metadata.name ?? '', new Map(own));
  }
  const builtin = new Set(groups.keys());
  for (const kind of kinds.all()) {
    const { group, version } = kind.type;
    const versions = groups.get(group) ?? new Map<string, ServedKind[]>();
    groups.set(group, versions);
    versions.set(version, [...(versions.get(version) ?? []), kind]);
  }
  const names = [...groups.keys()];
  const custom = names.filter((name) => !builtin.has(name)).sort();
  return [...names.filter((name) => builtin.has(name)), ...custom].map((name) => ({
    name,
    versions: sortedVersions(groups.get(name) ?? new Map(), builtin.has(name)),
  }));
}

function sortedVersions(
  versions: ReadonlyMap<string, readonly ServedKind[]>,
  builtin: boolean,
): ServedVersion[] {
  const byPlural = (one: ServedKind, other: ServedKind): number =>
    one.type.plural < other.type.plural ? -1 : 1;
  const listed = [...versions].map(([version, kinds]) => ({
    version,
    kinds: kinds.toSorted(byPlural),
  }));
  return builtin
    ? listed
    : listed.sort((one, other) => compareVersions(one.version, other.version));
}

const versionForm = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stability = { alpha: 0, beta: 1, stable: 2 } as const;

/** Orders versions as CRDs do: stable before beta before alpha, higher numbers first, others last. */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [versionForm.exec(one), versionForm.exec(other)];
  if (first === null || second === null) {
    if (first === null && second === null) return one < other ? -1 : 1;
    return first === null ? 1 : -1;
  }
  const [left, right] = [rank(first), rank(second)];
  const difference = left.findIndex((value, index) => value !== right[index]);
  return difference < 0 ? 0 : (right[difference] ?? 0) - (left[difference] ?? 0);
}

function rank([, major, name, minor]: RegExpExecArray): readonly number[] {
  const level = name === 'alpha' || name === 'beta' ? name : 'stable';
  return [stability[level], Number(major), Number(minor ?? 0)];
}
