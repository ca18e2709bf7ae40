import { parse } from 'yaml';
import type { PolicyRule } from '../../apiserver/internal.js';
import { keyFilesIn } from '../../declarative/internal.js';
import { checkYamlDepth, isJsonObject } from '../../object/index.js';
import { asError } from '../../system/index.js';
import { UsageError } from '../command-context.js';
import { readText } from '../files.js';

/**
 * Reads the keys that an API server of views needs from the directory of `declarative keys`. The server reads
 * `tokenKeyFile`, the source of `tokenKey`, again when it changes.
 * @throws OperatorError `InvalidConfig`: a file can't be read
 */
export async function readServerKeys(directory: string) {
  const files = keyFilesIn(directory);
  const tls = {
    certificate: await readText(files.certificate),
    privateKey: await readText(files.privateKey),
  };
  return { tls, tokenKey: await readText(files.tokenKey), tokenKeyFile: files.tokenKey };
}

/**
 * Reads the keys that sign tokens from the directory of `declarative keys`.
 * @throws OperatorError `InvalidConfig`: a file can't be read
 */
export async function readSigningKeys(directory: string) {
  const files = keyFilesIn(directory);
  return {
    certificate: await readText(files.certificate),
    signingKey: await readText(files.signingKey),
  };
}

const allViews = { apiGroups: ['*.view.dcontroller.io'], resources: ['*'] };

/** The access of a token to all views. A token with other rules needs a file with these rules. */
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
    throw new UsageError(`${file}: invalid YAML: ${asError(error).message.split('\n')[0] ?? ''}`);
  }
  const rules = isJsonObject(value) && 'rules' in value ? value['rules'] : value;
  if (!Array.isArray(rules)) {
    throw new UsageError(`${file}: want a list of rules, or a Role`);
  }
  return rules as readonly PolicyRule[];
}
