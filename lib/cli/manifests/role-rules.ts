/** A role's rule for resources. */
export interface RoleRule {
  readonly apiGroups: readonly string[];
  /** Names, with subresources such as `pods/status`. */
  readonly resources: readonly string[];
  /** Names of the objects that the rule covers. @defaultValue all */
  readonly resourceNames?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

/** The verbs allowed on one resource of one group. */
interface Right {
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[];
  readonly verbs: ReadonlySet<string>;
}

// Read verbs before write verbs, as people write them; other verbs last.
const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

/**
 * Returns the rules in normal form: merged by group, object names and verbs, without duplicates, sorted.
 * Rules that allow the same are equal, in whatever order they were declared.
 */
export function normalRules(rules: readonly RoleRule[]): readonly RoleRule[] {
  const merged = new Map<string, RoleRule>();
  for (const { group, resource, names, verbs } of rightsOf(rules)) {
    // The API server rejects a rule without verbs.
    if (verbs.size === 0) continue;
    const sorted = sortedVerbs(verbs);
    const alike = JSON.stringify([group, names, sorted]);
    const resources = [...(merged.get(alike)?.resources ?? []), resource].toSorted(byCharacters);
    const rest = names.length > 0 ? { resourceNames: names } : {};
    merged.set(alike, { apiGroups: [group], resources, ...rest, verbs: sorted });
  }
  return [...merged.values()].toSorted((one, other) => byCharacters(placeOf(one), placeOf(other)));
}

/** Whether two sets of rules are equal in normal form. Does not expand wildcards. */
export function allowTheSame(some: readonly RoleRule[], others: readonly RoleRule[]): boolean {
  return JSON.stringify(normalRules(some)) === JSON.stringify(normalRules(others));
}

/** Returns rules as YAML lines: the entries of a list. */
export function ruleLines(rules: readonly RoleRule[]): readonly string[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) => [
    `- apiGroups: ${flowList(apiGroups)}`,
    `  resources: ${flowList(resources)}`,
    ...(resourceNames === undefined ? [] : [`  resourceNames: ${flowList(resourceNames)}`]),
    `  verbs: ${flowList(verbs)}`,
  ]);
}

function rightsOf(rules: readonly RoleRule[]): Iterable<Right> {
  const rights = new Map<string, Right>();
  for (const { apiGroups, resources, resourceNames = [], verbs } of rules) {
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

function sortedVerbs(verbs: ReadonlySet<string>): readonly string[] {
  if (verbs.has('*')) return ['*'];
  const rank = (verb: string): number => verbOrder.indexOf(verb) + 1 || verbOrder.length + 1;
  return [...verbs].toSorted((one, other) => rank(one) - rank(other) || byCharacters(one, other));
}

function placeOf({ apiGroups, resources, resourceNames = [], verbs }: RoleRule): string {
  // NUL occurs in no name and sorts before all other characters.
  return [apiGroups, resources, resourceNames, verbs].map((each) => each.join()).join('\0');
}

/** Compares independently of the locale: projects share the files. */
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
