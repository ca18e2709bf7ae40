import { parseDocument } from 'yaml';
import type { PolicyRule } from '../../apiserver/internal.js';
import { allowTheSame, normalRules, ruleLines } from '../../manager/index.js';
import { isJsonObject, checkYamlDepth } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

/** The last generated line in the file of a role; the rules below it are the user's. */
export const roleMarker = '# +operator-builder:scaffold:rules';

/** The file of a role: the rules above a marker are generated. */
interface RoleFile {
  readonly rules: readonly PolicyRule[];
  /**
   * Returns the text with `rules` above the marker and the user's rules below it. If the current rules allow the
   * same, the text is unchanged.
   */
  withRules(rules: readonly PolicyRule[]): string;
}

/**
 * Parses the file of a role.
 * @param path - the path of the file, for messages
 * @throws OperatorError `InvalidConfig`: the marker is missing, or the rules above it do not have the generated form
 */
export function parseRoleFile(text: string, path: string): RoleFile {
  const lines = text.split('\n');
  const bare = lines.map((line) => line.trimEnd());
  const marker = bare.findIndex((line) => line.trim() === roleMarker);
  const start =
    bare.findLastIndex((line, at) => at < marker && /^rules:(?: +#.*)?$/.test(line)) + 1;
  if (start === 0) {
    const remedy = `write rules: before the generated rules, and ${roleMarker} after them`;
    throw new OperatorError(
      'InvalidConfig',
      `${path} does not mark the generated rules; ${remedy}`,
    );
  }
  const rules = rulesIn(bare.slice(start, marker).join('\n'), path);
  const withRules = (wanted: readonly PolicyRule[]): string => {
    if (allowTheSame(rules, wanted)) return text;
    const indentation = indentationOf(bare, start, marker);
    const written = ruleLines(normalRules(wanted)).map((line) => indentation + line);
    return lines.toSpliced(start, marker - start, ...written).join('\n');
  };
  return { rules, withRules };
}

/**
 * Returns the indentation of the current rules. The generated rules need the same one, because the user's rules
 * follow in the same list.
 */
function indentationOf(lines: readonly string[], start: number, marker: number): string {
  const entry = lines.slice(start).find((line) => /^ *- /.test(line));
  const [indentation = ''] = /^ */.exec(entry ?? lines[marker] ?? '') ?? [];
  return indentation;
}

function rulesIn(text: string, path: string): readonly PolicyRule[] {
  const document = parseDocument(checkYamlDepth(text, path));
  const [problem] = document.errors;
  if (problem !== undefined) throw refused(path, problem.message.trimEnd());
  const list: unknown = document.toJS() ?? [];
  if (!Array.isArray(list)) throw refused(path, 'want a list of rules');
  return list.map((entry: unknown) => {
    const { nonResourceURLs: paths, verbs, ...rule } = isJsonObject(entry) ? entry : {};
    const { apiGroups, resources, resourceNames = [], ...others } = rule;
    const [lists, unknown] =
      paths === undefined ? [[apiGroups, resources, resourceNames], others] : [[paths], rule];
    if (![...lists, verbs].every(isTextList) || Object.keys(unknown).length > 0) {
      throw refused(path, `${JSON.stringify(entry)} is not a generated rule`);
    }
    return entry as PolicyRule;
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

/** The file with the rules in other namespaces, for an operator that is limited to some namespaces. */
export const namespacedRolesPath = `${namespacesFolder}/roles.yaml`;
