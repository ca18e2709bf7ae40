import { join } from 'node:path';
import type { OperatorDefinition } from '../../manager/index.js';
import { initFiles } from '../scaffold/init-project.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import type { WantedManifests } from './wanted-manifests.js';
import { declaredRules, ownNamespace } from './declared-rules.js';
import { namespaceFiles } from './namespace-files.js';
import { parseRoleFile } from './role-file.js';
import { ownRolePath, rolePath } from './role-path.js';
import type { RoleRule } from './role-rules.js';

/**
 * Returns the roles of an operator's declared access.
 * @throws as {@link declaredRules} does, and if a file can't be changed
 */
export async function roleFiles(
  folder: string,
  operator: OperatorDefinition,
): Promise<WantedManifests> {
  const { everywhere, inNamespaces } = await declaredRules(operator);
  const others = new Map(inNamespaces);
  const own = others.get(ownNamespace) ?? [];
  others.delete(ownNamespace);
  const { wanted, notes } = await namespaceFiles(folder, operator.name, others);
  const roles = [
    await roleFile(folder, { operator, path: rolePath, rules: everywhere }),
    await roleFile(folder, { operator, path: ownRolePath, rules: own }),
  ];
  return { wanted: [...roles, ...wanted], notes };
}

interface WantedRole {
  readonly operator: OperatorDefinition;
  readonly path: string;
  readonly rules: readonly RoleRule[];
}

async function roleFile(
  folder: string,
  { operator, path, rules }: WantedRole,
): Promise<WantedFile> {
  const before = await textIfExists(join(folder, path));
  const text = before ?? (await textAtFirst(path, operator));
  return { type: 'edited', path, text: parseRoleFile(text, path).withRules(rules) };
}

/** Returns the file as in a new project. */
async function textAtFirst(path: string, { name }: OperatorDefinition): Promise<string> {
  const files = await initFiles({ name, domain: '' });
  return files.find((file) => file.path === path)?.text ?? '';
}
