import { isKnownFormat } from '../../crd/validation/schema-formats.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import { qualifiedNameProblems } from '../validation/names.js';
import { crdOf } from './crd.js';

const ownFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Returns warnings about finalizers that a write adds to a custom resource. */
export function finalizerWarnings(
  { metadata }: UnstructuredObject,
  old?: UnstructuredObject,
): readonly string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = (metadata.finalizers ?? []).filter((name) => !before.has(name));
  return [...new Set(added)].toSorted().flatMap((name) => {
    const problems = [...qualifiedNameProblems(name)];
    if (!name.includes('/') && !ownFinalizers.has(name)) {
      const path = name.includes('.') ? ' including a path (/)' : '';
      problems.push(
        `prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
      );
    }
    return problems.map((problem) => `metadata.finalizers: ${JSON.stringify(name)}: ${problem}`);
  });
}

/** Returns warnings about new formats in a CRD that the server does not validate. */
export function formatWarnings(
  crd: UnstructuredObject,
  old?: UnstructuredObject,
): readonly string[] {
  const before = old === undefined ? new Set() : unknownFormats(old);
  return [...unknownFormats(crd)]
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function unknownFormats(crd: UnstructuredObject): Set<string> {
  const found = new Set<string>();
  for (const { schema } of crdOf(crd).spec.versions) {
    if (schema?.openAPIV3Schema !== undefined) collect(schema.openAPIV3Schema, found);
  }
  return found;
}

function collect(schema: Schema, found: Set<string>): void {
  if (!isKnownFormat(schema)) found.add(schema.format ?? '');
  const { properties = {}, items, additionalProperties, not, allOf = [], anyOf = [] } = schema;
  const inner = [...allOf, ...anyOf, ...(schema.oneOf ?? []), ...Object.values(properties)];
  for (const part of [...inner, items, additionalProperties, not]) {
    if (typeof part === 'object') collect(part, found);
  }
}
