import type { PolicyRule } from '../../apiserver/internal.js';

/** The verbs allowed on one resource of one group, or on one path. */
interface Right {
  readonly group: string;
  readonly resource: string;
  readonly names: string[];
  /** If set, the group and the resource are empty. */
  readonly path?: string | undefined;
  readonly verbs: ReadonlySet<string>;
}

// The order of verbs in a rule, as people write them: read verbs, then write verbs. Other verbs come last.
const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/**
 * Returns the rules in normal form: merged by group, object names and verbs, without duplicates, and sorted, with the
 * rules for paths last. Rules that allow the same are equal, in whatever order they were declared.
 */
export function normalRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const { group, resource, names, path, verbs } of rightsOf(rules)) {
    // The API server rejects a rule without verbs.
    if (verbs.size === 0) continue;
    const sorted = sortedVerbs(verbs);
    const alike = JSON.stringify([path === undefined, group, names, sorted]);
    const { resources = [], nonResourceURLs = [] } = merged.get(alike) ?? {};
    if (path !== undefined) {
      const paths = [...nonResourceURLs, path].toSorted(byCharacters);
      merged.set(alike, { nonResourceURLs: paths, verbs: sorted });
      continue;
    }
    const all = [...resources, resource].toSorted(byCharacters);
    const rest = names.length > 0 ? { resourceNames: names } : {};
    merged.set(alike, { apiGroups: [group], resources: all, ...rest, verbs: sorted });
  }
  return [...merged.values()].toSorted((one, other) => byCharacters(placeOf(one), placeOf(other)));
}

/** Whether two sets of rules are equal in normal form. Does not expand wildcards. */
export function allowTheSame(some: readonly PolicyRule[], others: readonly PolicyRule[]): boolean {
  return JSON.stringify(normalRules(some)) === JSON.stringify(normalRules(others));
}

/** Returns rules as YAML lines: the entries of a list. */
export function ruleLines(rules: readonly PolicyRule[]): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }) =>
    Object.entries({ apiGroups, resources, resourceNames, nonResourceURLs, verbs })
      .filter(([, items]) => items !== undefined)
      .map(([name, items], n) => `${n === 0 ? '-' : ' '} ${name}: ${flowList(items ?? [])}`),
  );
}

function rightsOf(rules: readonly PolicyRule[]): Iterable<Right> {
  const rights = new Map<string, Right>();
  for (const rule of rules) {
    const {
      apiGroups = [],
      resources = [],
      resourceNames = [],
      nonResourceURLs = [],
      verbs,
    } = rule;
    for (const path of nonResourceURLs) {
      const known = rights.get(path)?.verbs ?? [];
      const right = { group: '', resource: '', names: [], path };
      rights.set(path, { ...right, verbs: new Set([...known, ...verbs]) });
    }
    const names = [...new Set(resourceNames)].toSorted(byCharacters);
    for (const group of apiGroups) {
      for (const resource of resources) {
        const place = JSON.stringify([group, resource, names]);
        const known = rights.get(place)?.verbs ?? [];
        rights.set(place, { group, resource, names, verbs: new Set([...known, ...verbs]) });
      }
    }
  }
  return rights.values();
}

function sortedVerbs(verbs: ReadonlySet<string>): string[] {
  if (verbs.has('*')) return ['*'];
  const rank = (verb: string): number => verbOrder.indexOf(verb) + 1 || Infinity;
  return [...verbs].toSorted((one, other) => rank(one) - rank(other) || byCharacters(one, other));
}

function placeOf(rule: PolicyRule): string {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs } = rule;
  // NUL occurs in no name and sorts before all other characters.
  const place = [nonResourceURLs, apiGroups, resources, resourceNames, verbs];
  return place.map((each) => each.join()).join('\0');
}

/** Compares independently of the locale, so that every machine generates the same files. */
function byCharacters(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

const plain = /^[a-z][a-z0-9./-]*$/i;
const meansElse = /^(?:y|n|yes|no|on|off|true|false|null)$/i;

function flowList(items: readonly string[]): string {
  const quoted = items.map((item) =>
    plain.test(item) && !meansElse.test(item) ? item : `'${item.replaceAll("'", "''")}'`,
  );
  return `[${quoted.join(', ')}]`;
}
