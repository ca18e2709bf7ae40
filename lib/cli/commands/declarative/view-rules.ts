import { parse } from 'yaml';
import { checkYamlDepth } from '../../../object/yaml-documents.js';
import type { PolicyRule } from '../../../apiserver/index.js';
import { asError } from '../../../system/as-error.js';
import { readText } from '../../files.js';
import { UsageError } from '../../command-context.js';

const allViews = { apiGroups: ['*.view.dcontroller.io'], resources: ['*'] };

/** Access to views; finer rules come from a file. */
export type AccessLevel = 'read' | 'write';

/** Returns the rules of a level: reading all views, or also changing them. */
export function rulesOfLevel(level: AccessLevel): readonly PolicyRule[] {
  const verbs = level === 'read' ? ['get', 'list', 'watch'] : ['*'];
  return [{ verbs, ...allViews }];
}

/**
 * Reads rules as in a Role, in YAML or JSON: a list, or an object with a list `rules`. Does not validate
 * the rules: the code that makes the token does.
 * @throws UsageError the file is not YAML, or has no list of rules
 * @throws OperatorError `InvalidConfig`: the file can't be read
 */
export async function readRules(file: string): Promise<readonly PolicyRule[]> {
  const text = await readText(file);
  let value: unknown;
  try {
    value = parse(checkYamlDepth(text, file));
  } catch (error) {
    throw new UsageError(`${file} is no YAML: ${asError(error).message.split('\n')[0] ?? ''}`);
  }
  const rules = isRole(value) ? value.rules : value;
  if (!Array.isArray(rules)) {
    throw new UsageError(`${file}: want a list of rules, as a Role has`);
  }
  return rules as readonly PolicyRule[];
}

function isRole(value: unknown): value is { readonly rules: unknown } {
  return typeof value === 'object' && value !== null && 'rules' in value;
}
