import { groupOf, referenceTo, versionOf } from '../../object/index.js';
import type { CustomResourceDefinition } from '../../object/index.js';
import { breakingChanges } from '../evolution/breaking-changes.js';
import { breakingRules } from '../evolution/breaking-rules.js';
import { chosen } from '../evolution/findings.js';
import type { DefinitionFinding } from '../evolution/findings.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Effects, Finding } from './upgrade-report.js';

/** Definitions before and after an upgrade, and what is reported already. */
interface DefinitionUpgrade extends Effects {
  readonly before: readonly CustomResourceDefinition[];
  readonly after: readonly CustomResourceDefinition[];
}

/**
 * Returns the breaking changes of definitions: errors as findings, warnings as harmless changes. Leaves out removals
 * and defaults that are reported for a stored object.
 */
export function breakingDefinitions(upgrade: DefinitionUpgrade): Effects {
  const { before, after } = upgrade;
  const unreported = breakingChanges(before, after).filter(
    (change) => !isReported(change, upgrade),
  );
  const changes = chosen(unreported, { disable: [], enable: [] }, breakingRules);
  const refOf = ({ definition }: DefinitionFinding) =>
    withoutUid(referenceTo(definitionNamed(before, definition)));
  return {
    findings: changes
      .filter(({ level }) => level === 'error')
      .map((change) => finding('breaking', refOf(change), { message: textOf(change) })),
    changes: changes
      .filter(({ level }) => level === 'warning')
      .map((change) => ({
        ...{ action: 'configure', ref: refOf(change), changes: [], note: textOf(change) },
      })),
  };
}

function definitionNamed(
  definitions: readonly CustomResourceDefinition[],
  name: string,
): CustomResourceDefinition {
  const found = definitions.find(({ metadata }) => metadata.name === name);
  if (found === undefined)
    throw new Error(`a change concerns the definition ${name}, which is not among the given ones`);
  return found;
}

function textOf({ rule, versions, path, message }: DefinitionFinding): string {
  const place = [rule, versions.join(', '), path].filter((part) => part !== '').join(' ');
  return `${place}: ${message}`;
}

/** Whether a finding or a harmless change already reports this change, which concerns at most one version. */
function isReported(change: DefinitionFinding, upgrade: DefinitionUpgrade): boolean {
  const { definition, rule, path, versions } = change;
  const { spec } = definitionNamed(upgrade.before, definition);
  const isOwn = ({ ref }: Pick<Finding, 'ref'>): boolean =>
    ref.kind === spec.names.kind && groupOf(ref.apiVersion) === spec.group;
  const own = upgrade.findings.filter(isOwn);
  const ofDefinition = upgrade.findings.filter(
    ({ ref }) => ref.kind === 'CustomResourceDefinition' && ref.name === definition,
  );
  const isVersion = (version: unknown): boolean => versions.includes(String(version));
  const isOwnVersion = (found: Pick<Finding, 'ref'>): boolean =>
    isOwn(found) && isVersion(versionOf(found.ref.apiVersion));
  if (rule === 'definition-removed') return own.some(({ type }) => type === 'version');
  if (rule === 'scope-changed' || rule === 'names-changed') {
    return ofDefinition.some(({ type, message }) => type === 'refused' && message.includes(path));
  }
  if (rule === 'version-removed' || rule === 'version-unserved') {
    return (
      ofDefinition.some(({ changes }) => changes.some(({ from }) => isVersion(from))) ||
      own.some((found) => found.type === 'version' && isOwnVersion(found))
    );
  }
  if (rule !== 'default-added' && rule !== 'field-removed') return false;
  const found =
    rule === 'default-added'
      ? upgrade.changes
      : upgrade.findings.filter(({ type }) => type === 'dropped');
  const isHere = isAt(path);
  return found.filter(isOwnVersion).some(({ changes }) => changes.some((at) => isHere(at.path)));
}

/** Tests whether a field is at a path of a schema, such as `spec.ports[*].name` or `spec.limits.*`. */
function isAt(path: string): (field: string) => boolean {
  const escaped = path.replaceAll(/[\\^$+?()|{}]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(/\[\*\]|\.\*|[.[\]*]/g, (part) => {
    if (part === '[*]') return String.raw`\[[^\]]*\]`;
    return part === '.*' ? String.raw`(?:\.[^.[]+|\["[^"]*"\])` : `\\${part}`;
  });
  const form = new RegExp(`^${pattern}$`);
  return (field) => form.test(field);
}
