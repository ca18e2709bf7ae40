import { groupOf, referenceTo, versionOf } from '../../object/index.js';
import type { CustomResourceDefinition, FieldChange } from '../../object/index.js';
import { breakingChanges } from '../evolution/breaking-changes.js';
import { breakingRules } from '../evolution/breaking-rules.js';
import type { BreakingRule } from '../evolution/breaking-rules.js';
import { chosen } from '../evolution/findings.js';
import type { DefinitionFinding } from '../evolution/findings.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Finding, FindingType, HarmlessChange } from './upgrade-report.js';

/** Definitions before and after an upgrade, and what is reported already. */
interface DefinitionUpgrade {
  readonly before: readonly CustomResourceDefinition[];
  readonly after: readonly CustomResourceDefinition[];
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
}

/** The breaking changes of definitions: errors as findings, warnings as harmless changes. */
interface BreakingReport {
  readonly findings: readonly Finding[];
  readonly changes: readonly HarmlessChange[];
}

/**
 * Returns the breaking changes of definitions: those that affect no stored object, but other objects, files or
 * clients. Leaves out the changes that a finding on a stored object reports.
 */
export function breakingDefinitions(upgrade: DefinitionUpgrade): BreakingReport {
  const { before, after } = upgrade;
  const untold = breakingChanges(before, after).filter((change) => !isTold(change, upgrade));
  const changes = chosen(untold, { disable: [], enable: [] }, breakingRules);
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
  if (found === undefined) throw new Error(`a change names the unknown definition ${name}`);
  return found;
}

function textOf({ rule, versions, path, message }: DefinitionFinding): string {
  const place = [rule, versions.join(', '), path].filter((part) => part !== '').join(' ');
  return `${place}: ${message}`;
}

/** The rules whose effect on a stored object is a finding of this type. */
const rulesOf: Partial<Record<FindingType, readonly BreakingRule[]>> = {
  schema: [
    ...(['type-changed', 'required-added', 'enum-narrowed', 'bounds-tightened'] as const),
    ...(['pattern-changed', 'format-changed', 'nullable-removed', 'rule-added'] as const),
    'validation-changed',
  ],
  dropped: ['field-removed', 'unknown-fields-pruned'],
};

function isTold(change: DefinitionFinding, upgrade: DefinitionUpgrade): boolean {
  const { definition, rule, path, versions } = change;
  const { spec } = definitionNamed(upgrade.before, definition);
  const isOwn = ({ ref }: Pick<Finding, 'ref'>): boolean =>
    ref.kind === spec.names.kind && groupOf(ref.apiVersion) === spec.group;
  const own = upgrade.findings.filter(isOwn);
  const ofDefinition = upgrade.findings.filter(
    ({ ref }) => ref.kind === 'CustomResourceDefinition' && ref.name === definition,
  );
  if (rule === 'definition-removed') return own.some(({ type }) => type === 'version');
  if (rule === 'scope-changed' || rule === 'names-changed') {
    return ofDefinition.some(({ type, message }) => type === 'refused' && message.includes(path));
  }
  if (rule === 'version-removed' || rule === 'version-unserved') {
    const isVersion = (version: unknown): boolean => versions.includes(String(version));
    return (
      ofDefinition.some(({ changes }) => changes.some(({ from }) => isVersion(from))) ||
      own.some(({ type, ref }) => type === 'version' && isVersion(versionOf(ref.apiVersion)))
    );
  }
  if (rule === 'default-added') {
    return upgrade.changes.some((each) => isOwn(each) && each.changes.some(isAt(path)));
  }
  const isMissing = rule === 'required-added';
  return own.some(({ type, changes }) => {
    const isSame = rulesOf[type]?.some((each) => each === rule) === true;
    // The values of fields in lists are unknown.
    const fields = changes.filter(
      (change) => (change.from === undefined) === isMissing || change.path.includes('['),
    );
    return isSame && fields.some(isAt(path));
  });
}

/** Tests whether a change is at a path of a schema, such as `spec.ports[*].name` or `spec.limits.*`. */
function isAt(path: string): (change: FieldChange) => boolean {
  const escaped = path.replaceAll(/[\\^$+?()|{}]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll(/\[\*\]|\.\*|[.[\]*]/g, (part) => {
    if (part === '[*]') return String.raw`\[[^\]]*\]`;
    return part === '.*' ? String.raw`(?:\.[^.[]+|\["[^"]*"\])` : `\\${part}`;
  });
  const form = new RegExp(`^${pattern}$`);
  return (change) => form.test(change.path);
}
