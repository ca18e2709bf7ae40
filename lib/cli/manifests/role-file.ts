import { parseDocument } from 'yaml';
import { isJsonObject, checkYamlDepth } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

/** The last generated line in the file of a role; the rules below it are the user's. */
export const roleMarker = '# +operator-builder:scaffold:rules';

/** The file of a role: the rules above a marker are generated. */
interface RoleFile {
  /** The generated rules. */
  readonly rules: readonly RoleRule[];
  /**
   * Returns the text with `rules` above the marker and the user's rules below it. If the present rules allow
   * the same, the text is unchanged.
   */
  withRules(rules: readonly RoleRule[]): string;
}

/**
 * Parses the file of a role.
 * @param path - for messages
 * @throws OperatorError `InvalidConfig`: the marker is missing, or the rules above it do not have the
 * generated form
 */
export function parseRoleFile(text: string, path: string): RoleFile {
  const lines = text.split('\n');
  const bare = lines.map((line) => line.trimEnd());
  const marker = bare.findIndex((line) => line.trim() === roleMarker);
  const start =
    bare.findLastIndex((line, at) => at < marker && /^rules:(?: +#.*)?$/.test(line)) + 1;
  if (marker < 0 || start === 0) {
    const remedy = `write rules: before the generated rules, and ${roleMarker} after them`;
    throw new OperatorError(
      'InvalidConfig',
      `${path} does not mark the generated rules; ${remedy}`,
    );
  }
  const rules = rulesIn(bare.slice(start, marker).join('\n'), path);
  const withRules = (wanted: readonly RoleRule[]): string => {
    if (allowTheSame(rules, wanted)) return text;
    // Windows files end lines with CRLF.
    const ending = lines[marker]?.endsWith('\r') === true ? '\r' : '';
    const indentation = indentationOf(bare, start, marker);
    const written = ruleLines(normalRules(wanted)).map((line) => indentation + line + ending);
    return lines.toSpliced(start, marker - start, ...written).join('\n');
  };
  return { rules, withRules };
}

/**
 * Returns the indentation of the present rules. The generated rules need the same one, because the user's
 * rules follow in the same list.
 */
function indentationOf(lines: readonly string[], start: number, marker: number): string {
  const entry = lines.slice(start).find((line) => /^ *- /.test(line));
  const [indentation = ''] = /^ */.exec(entry ?? lines[marker] ?? '') ?? [];
  return indentation;
}

function rulesIn(text: string, path: string): readonly RoleRule[] {
  const document = parseDocument(checkYamlDepth(text, path));
  const [problem] = document.errors;
  if (problem !== undefined) throw refused(path, problem.message.trimEnd());
  const list: unknown = document.toJS() ?? [];
  if (!Array.isArray(list)) throw refused(path, 'want a list of rules');
  return list.map((entry: unknown) => {
    const { apiGroups, resources, resourceNames, verbs, ...others } = isJsonObject(entry)
      ? entry
      : {};
    const isRule = [apiGroups, resources, resourceNames ?? [], verbs].every(isTextList);
    if (!isRule || Object.keys(others).length > 0) {
      throw refused(path, `${JSON.stringify(entry)} is not a generated rule`);
    }
    return entry as RoleRule;
  });
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function refused(path: string, problem: string): OperatorError {
  const remedy = `move rules of your own below the line ${roleMarker}`;
  return new OperatorError(
    'InvalidConfig',
    `${path} has rules that can't be read: ${problem}; ${remedy}`,
  );
}

/** The file with the operator's cluster-wide rules. */
export const rolePath = 'config/rbac/role.yaml';

/** The file with the rules in the operator's namespace. */
export const ownRolePath = 'config/rbac/leader_election_role.yaml';

/** The kustomization of objects in other namespaces. */
export const namespacesFolder = 'config/namespaces';

/** The file with the rules in other namespaces, for an operator limited to some. */
export const namespacedRolesPath = `${namespacesFolder}/roles.yaml`;

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
