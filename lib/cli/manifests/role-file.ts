import { parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-documents.js';
import { OperatorError } from '../../system/operator-error.js';
import { allowTheSame, normalRules, ruleLines } from './role-rules.js';
import type { RoleRule } from './role-rules.js';

/** The last generated line in the file of a role; the rules below it are the user's. */
export const roleMarker = '# +operator-builder:scaffold:rules';

/** The file of a role: the rules above a marker are generated. */
export interface RoleFile {
  /** The generated rules. */
  readonly rules: readonly RoleRule[];
  /** Returns the text with these rules; unchanged if they allow the same. Keeps the rest. */
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
    const remedy = `put a line rules: before those that are generated, and ${roleMarker} after them`;
    throw new OperatorError(
      'InvalidConfig',
      `${path} does not say which rules are generated: ${remedy}`,
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

/** Returns the indentation of all rules; the user's may be unindented. */
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
