import { join } from 'node:path';
import {
  allowed,
  conversionWebhook,
  mutatingWebhook,
  validatingWebhook,
} from '../../manager/index.js';
import type { AdmissionWebhookOptions, Webhook } from '../../manager/index.js';
import { declaredRules, ownNamespace } from '../manifests/declared-rules.js';
import { parseRoleFile } from '../manifests/role-file.js';
import { ownRolePath, rolePath } from '../manifests/role-path.js';
import type { RoleRule } from '../manifests/role-rules.js';
import { webhookManifestFiles } from '../manifests/webhook-manifests.js';
import { textIfExists } from './plan-files.js';
import type { WantedFile } from './plan-files.js';
import { wholeGroup } from './project-file.js';
import type { WebhookScaffold } from './webhook-files.js';
import { laterName } from './webhook-values.js';

/**
 * Predicts the files that `operator-builder manifests` generates with the webhooks, for a project that may
 * not be installed yet.
 */
export async function webhookConfig(scaffold: WebhookScaffold): Promise<readonly WantedFile[]> {
  const { folder, project } = scaffold;
  const operator = { name: project.name, webhooks: webhooksOf(scaffold), setup: () => undefined };
  const { everywhere, inNamespaces } = await declaredRules(operator);
  const { wanted } = await webhookManifestFiles(folder, operator, { keep: true });
  return [
    ...(await mergedRole(folder, rolePath, everywhere)),
    ...(await mergedRole(folder, ownRolePath, inNamespaces.get(ownNamespace) ?? [])),
    ...wanted,
  ];
}

/** Returns the webhooks as in the template's code. */
function webhooksOf(scaffold: WebhookScaffold): readonly Webhook[] {
  const { project, resource, wanted, others, first } = scaffold;
  const { kind, plural, version, scope } = resource;
  const group = wholeGroup(project, resource);
  const versions = [first, ...others].map((one) => one.version);
  const type = { group, version, kind, plural, namespaced: scope === 'Namespaced', versions };
  const later = laterName(scaffold);
  const optIn = { [`${project.name}.${project.domain}/webhooks`]: 'enabled' };
  const named = (letter: string): AdmissionWebhookOptions => ({
    ...(later !== '' && { name: `${letter}${kind.toLowerCase()}${later}.${group}` }),
    ...(resource.external === true && { namespaceSelector: { matchLabels: optIn } }),
  });
  const convertible = { group, kind, plural, versions, convert: <T>(object: T): T => object };
  return [
    ...(wanted.conversion === true ? [conversionWebhook(convertible)] : []),
    ...(wanted.defaulting === true ? [mutatingWebhook(type, () => allowed(), named('m'))] : []),
    ...(wanted.validation === true ? [validatingWebhook(type, () => allowed(), named('v'))] : []),
  ];
}

/** Returns the merged role; if the user has deleted the file, it stays deleted. */
async function mergedRole(
  folder: string,
  path: string,
  rules: readonly RoleRule[],
): Promise<readonly WantedFile[]> {
  const text = await textIfExists(join(folder, path));
  if (text === undefined) return [];
  const role = parseRoleFile(text, path);
  return [{ type: 'edited', path, text: role.withRules([...role.rules, ...rules]) }];
}
