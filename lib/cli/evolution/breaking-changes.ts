import { deepEqual } from '../../object/index.js';
import type { CustomResourceDefinition } from '../../object/index.js';
import { breakingRules } from './breaking-rules.js';
import type { BreakingRule } from './breaking-rules.js';
import { schemaChanges } from './compare-schemas.js';
import type { DefinitionFinding, Problem } from './findings.js';
import { isConverted, schemaOf, storageOf, versionsWithout } from './versions.js';
import type { CrdVersion } from './versions.js';

/**
 * Returns the changes between two states of CustomResourceDefinitions that can break stored objects or clients. New
 * definitions, versions and optional fields do not count.
 */
export function breakingChanges(
  before: readonly CustomResourceDefinition[],
  after: readonly CustomResourceDefinition[],
): readonly DefinitionFinding[] {
  return before.flatMap((old) => {
    const { name = '' } = old.metadata;
    const crd = after.find(({ metadata }) => metadata.name === name);
    const changes = crd === undefined ? [removed] : definitionChanges(old, crd);
    return changes.map(({ rule, version, path, message }) => ({
      ...{ level: breakingRules[rule].level, rule, definition: name },
      ...{ versions: version === undefined ? [] : [version], path, message },
    }));
  });
}

interface DefinitionChange extends Problem<BreakingRule> {
  readonly version?: string;
}

const removed: DefinitionChange = {
  rule: 'definition-removed',
  path: '',
  message: 'removed: if the definition is deleted, the server deletes all objects with it',
};

function definitionChanges(
  old: CustomResourceDefinition,
  crd: CustomResourceDefinition,
): readonly DefinitionChange[] {
  return [...nameChanges(old, crd), ...versionChanges(old, crd), ...storageChanges(old, crd)];
}

function nameChanges(
  { spec: old }: CustomResourceDefinition,
  { spec }: CustomResourceDefinition,
): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  if (old.scope !== spec.scope) {
    const message = `from ${old.scope} to ${spec.scope}: the server refuses it; objects must move to another kind`;
    changes.push({ rule: 'scope-changed', path: 'spec.scope', message });
  }
  for (const name of ['kind', 'listKind'] as const) {
    const [from, to] = [nameIn(old.names, name), nameIn(spec.names, name)];
    if (from === to) continue;
    const message = `from ${from} to ${to}: clients, roles and owner references use the old name`;
    changes.push({ rule: 'names-changed', path: `spec.names.${name}`, message });
  }
  for (const name of ['singular', 'shortNames', 'categories'] as const) {
    const gone = aliasesIn(old.names, name).filter(
      (each) => !aliasesIn(spec.names, name).includes(each),
    );
    if (gone.length === 0) continue;
    const message = `${gone.join(', ')} is gone: kubectl no longer knows it`;
    changes.push({ rule: 'alias-removed', path: `spec.names.${name}`, message });
  }
  return changes;
}

type Names = CustomResourceDefinition['spec']['names'];

function nameIn(names: Names, name: 'kind' | 'listKind'): string {
  return name === 'listKind' ? (names.listKind ?? `${names.kind}List`) : names[name];
}

function aliasesIn(
  names: Names,
  name: 'singular' | 'shortNames' | 'categories',
): readonly string[] {
  // The server sets a missing singular to the kind in lower case.
  return name === 'singular' ? [names.singular ?? names.kind.toLowerCase()] : (names[name] ?? []);
}

function versionChanges(
  old: CustomResourceDefinition,
  crd: CustomResourceDefinition,
): readonly DefinitionChange[] {
  // Generators write definitions whose status is empty or has nulls.
  const storedVersions = old.status?.storedVersions ?? [];
  const stored = storedVersions.length > 0 ? storedVersions : [storageOf(old).name];
  const changes: DefinitionChange[] = versionsWithout(crd, stored).map(({ version, message }) => ({
    ...{ rule: 'version-removed', version, path: '', message },
  }));
  for (const before of old.spec.versions) {
    const version = before.name;
    const after = crd.spec.versions.find(({ name }) => name === version);
    if (before.served && after?.served !== true) {
      const message =
        'no longer served: files and clients that name it fail; serve it, deprecated, until it is unused';
      changes.push({ rule: 'version-unserved', version, path: '', message });
    }
    if (after === undefined || !(before.served || before.storage)) continue;
    const inner = [
      ...schemaChanges(schemaOf(before), schemaOf(after)),
      ...subresourceChanges(before, after),
      ...selectionChanges(before, after),
    ];
    changes.push(...inner.map((change) => ({ ...change, version })));
  }
  return changes;
}

/** Compares the stored versions: without a webhook, the server drops fields that the new stored version lacks. */
function storageChanges(
  old: CustomResourceDefinition,
  crd: CustomResourceDefinition,
): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  const [from, to] = [storageOf(old), storageOf(crd)];
  const converts = isConverted(crd);
  if (
    isConverted(old) &&
    !converts &&
    crd.spec.versions.filter(({ served }) => served).length > 1
  ) {
    const message =
      'the webhook is gone: the server changes only apiVersion, and drops fields that a version lacks';
    changes.push({ rule: 'conversion-changed', path: 'spec.conversion', message });
  }
  if (from.name === to.name) return changes;
  const message = `${to.name} is stored instead of ${from.name}: stored objects stay in ${from.name} until they are written; migrate them before ${from.name} goes`;
  changes.push({ rule: 'storage-changed', version: from.name, path: '', message });
  if (converts) return changes;
  const lost = schemaChanges(schemaOf(from), schemaOf(to)).filter(({ rule }) =>
    ['field-removed', 'type-changed', 'unknown-fields-pruned'].includes(rule),
  );
  return [
    ...changes,
    ...lost.map((change) => ({
      ...{ ...change, version: from.name },
      message: `${to.name} is stored without a conversion: ${change.message}`,
    })),
  ];
}

function subresourceChanges(
  { subresources: old = {} }: CrdVersion,
  { subresources = {} }: CrdVersion,
): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  const add = (path: string, message: string): void =>
    void changes.push({ rule: 'subresource-changed', path, message });
  if (old.status !== undefined && subresources.status === undefined) {
    add('status', 'the status subresource is gone: requests to /status fail');
  }
  if (old.status === undefined && subresources.status !== undefined) {
    add('status', 'the status subresource is new: the server ignores a status in other writes');
  }
  if (old.scale !== undefined && !deepEqual(old.scale, subresources.scale)) {
    const what = subresources.scale === undefined ? 'is gone' : 'has other paths';
    add(
      'scale',
      `the scale subresource ${what}: kubectl scale and autoscalers fail or change another field`,
    );
  }
  return changes;
}

function selectionChanges(before: CrdVersion, after: CrdVersion): readonly DefinitionChange[] {
  const paths = (after.selectableFields ?? []).map(({ jsonPath }) => jsonPath);
  const unselectable = (before.selectableFields ?? []).filter(
    ({ jsonPath }) => !paths.includes(jsonPath),
  );
  const columns = (after.additionalPrinterColumns ?? []).map(({ name }) => name);
  const hidden = (before.additionalPrinterColumns ?? []).filter(
    ({ name }) => !columns.includes(name),
  );
  return [
    ...unselectable.map(({ jsonPath }): DefinitionChange => ({
      ...{ rule: 'selectable-field-removed', path: jsonPath.replace(/^\./, '') },
      message:
        'no longer selectable: the server refuses lists and watches with this field selector',
    })),
    ...hidden.map(({ name, jsonPath }): DefinitionChange => ({
      ...{ rule: 'column-removed', path: jsonPath.replace(/^\./, '') },
      message: `the column ${name} is gone from kubectl get`,
    })),
  ];
}
