import { dns1035LabelProblem, dns1123SubdomainProblem, pluralOf } from '../../object/index.js';
import { UsageError } from '../command-context.js';

/** The longest suffix that an object's name adds to the project's name. */
const longestSuffix = '-controller-manager-metrics';
const longestName = 63 - longestSuffix.length;
/** The kind of a list is the kind of its items with `List` at the end. */
const longestKind = 63 - 'List'.length;

const versionPattern = /^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/;
/** With its domain, a group is a part of the names of files, which have at most 255 characters. */
const longestGroup = 140;
/** Words that YAML 1.1 or 1.2 does not read as a string. */
const otherInYaml = /^(?:y|n|yes|no|on|off|true|false|null)$/i;
const kindPattern = /^[A-Z][A-Za-z0-9]*$/;

/** Names that the generated code uses; a spec checks the list. */
const takenKinds: readonly string[] = [
  ...['AdmissionWebhookOptions', 'Annotations', 'CustomResourceDefinition', 'Deployment'],
  ...[
    'EmbeddedCluster',
    'Event',
    'KubernetesObject',
    'Logger',
    'Namespace',
    'ObjectOf',
    'Operator',
  ],
  ...[
    'ResourceBuilder',
    'ResourceType',
    'Service',
    'VersionDefinition',
    'VersionObject',
    'Webhook',
  ],
];

/** @param source - origin of the name, for the message @throws UsageError invalid operator name */
export function checkProjectName(name: string, source = '--name'): void {
  const problem =
    dns1035LabelProblem(name) ??
    (otherInYaml.test(name)
      ? `${name} means another value in YAML, not a text; choose a longer name, such as my-${name}`
      : undefined) ??
    (name.length > longestName
      ? `has ${name.length} characters, at most ${longestName} are allowed, because objects are named after it`
      : undefined);
  refuse(source, problem);
}

/** @throws UsageError there is a problem; `source` is the origin of the name */
export function refuse(source: string, problem: string | undefined): void {
  if (problem !== undefined) throw new UsageError(`${source}: ${problem}`);
}

/** @throws UsageError invalid end of a group name */
export function checkDomain(domain: string, source = '--domain'): void {
  refuse(source, dns1123SubdomainProblem(domain));
}

/** @param domain - the domain of the project @throws UsageError invalid group */
export function checkGroup(group: string, domain: string): void {
  checkGroupName(group, domain);
  const { length } = `${group}.${domain}`;
  if (length > longestGroup) {
    throw new UsageError(
      `--group: has ${length} characters with the domain, at most ${longestGroup} are allowed, because files are named after it`,
    );
  }
  if (group !== domain && !group.endsWith(`.${domain}`)) return;
  throw new UsageError(`--group: leave out the domain of ${group}; .${domain} is added`);
}

/** @throws UsageError the group is invalid alone or with the domain */
export function checkGroupName(group: string, domain: string, source = '--group'): void {
  refuse(source, dns1123SubdomainProblem(group) ?? dns1123SubdomainProblem(`${group}.${domain}`));
}

/** @throws UsageError not in the form of a Kubernetes version */
export function checkVersion(version: string, source = '--version'): void {
  if (versionPattern.test(version)) return;
  const wanted = 'want a version such as v1, v1beta1 or v2alpha3';
  throw new UsageError(`${source}: ${wanted}, got ${JSON.stringify(version)}`);
}

/** @throws UsageError invalid kind, or its code would not compile */
export function checkKind(kind: string): void {
  checkKindName(kind);
  if (kind.length > longestKind) {
    refuse(
      '--kind',
      `has ${kind.length} characters, at most ${longestKind} are allowed, because lists have the kind with List at the end`,
    );
  }
  if (otherInYaml.test(kind))
    refuse(
      '--kind',
      `${kind} means another value in YAML, not a text; choose a longer name, such as My${kind}`,
    );
  if (takenKinds.includes(kind) || kind in globalThis) {
    refuse(
      '--kind',
      `${kind} is already a name in the generated code; choose a longer name, such as My${kind}`,
    );
  }
}

/** @throws UsageError invalid kind */
export function checkKindName(kind: string, source = '--kind'): void {
  const problem = kindPattern.test(kind)
    ? dns1035LabelProblem(kind.toLowerCase())
    : `want a capital letter, then letters and digits, such as CronTab, got ${JSON.stringify(kind)}`;
  refuse(source, problem);
}

/** Irregular plurals by the end of a word. The first match counts. */
const irregularPlurals: readonly (readonly [ending: RegExp, plural: string])[] = [
  [/(?:settings|metrics|credentials|endpoints|analytics|series|species|news|chassis)$/, '$&'],
  [/(?:data|information|equipment|software|hardware|middleware|firmware|sheep)$/, '$&'],
  [/sis$/, 'ses'],
  [/(?<=^|[^aeiou])axis$/, 'axes'],
  [/quiz$/, 'quizzes'],
  [/(?<=her|potat|tomat|ech|vet|torped|embarg|carg)o$/, 'oes'],
  [/(?<=lea|hal|cal|shel|sel|el|wol|loa|thie|shea)f$/, 'ves'],
  [/(?<=kni|wi|li)fe$/, 'ves'],
  [/(?<=hu|ger|ro|talis|sha)man$/, 'mans'],
  [/man$/, 'men'],
  [/child$/, 'children'],
  [/person$/, 'people'],
  [/mouse$/, 'mice'],
  [/goose$/, 'geese'],
  [/foot$/, 'feet'],
  [/tooth$/, 'teeth'],
  [/datum$/, 'data'],
  [/criterion$/, 'criteria'],
  [/matrix$/, 'matrices'],
  [/vertex$/, 'vertices'],
];

/**
 * Returns the English plural of a kind in lower case. Definitions use {@link pluralOf} instead, which has
 * regular plurals only: the names of definitions in clusters must not change.
 */
export function englishPlural(singular: string): string {
  const irregular = irregularPlurals.find(([ending]) => ending.test(singular));
  return irregular === undefined ? pluralOf(singular) : singular.replace(...irregular);
}

/** @throws UsageError invalid plural */
export function checkPlural(plural: string, source = '--plural'): void {
  refuse(source, dns1035LabelProblem(plural));
}

/** Returns `HTTPRoute` as `http-route`, for file names. */
export function kebabCase(kind: string): string {
  return kind
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

/** Returns `HTTPRoute` as `httpRoute`, for variable names. */
export function camelCase(kind: string): string {
  const [first = '', ...rest] = kebabCase(kind).split('-');
  return first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
