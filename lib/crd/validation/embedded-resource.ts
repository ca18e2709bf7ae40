import { isJsonObject } from '../../object/json.js';
import type { FieldErrors } from './field-errors.js';
import {
  generateNameProblems,
  label1035Problems,
  labelProblems,
  labelValueProblems,
  nameProblems,
  qualifiedNameProblems,
} from './names.js';

/** An object inside another object, and its path. */
export interface EmbeddedCheck {
  readonly path: string;
  readonly errors: FieldErrors;
}

/**
 * Validates an embedded object (`x-kubernetes-embedded-resource`) like the API server: its apiVersion, kind
 * and, if present, the names, labels and annotations in its metadata.
 */
export function validateEmbedded(
  { apiVersion, kind, metadata }: Readonly<Record<string, unknown>>,
  { path, errors }: EmbeddedCheck,
): void {
  validateTypeMeta('apiVersion', apiVersion, { path, errors });
  validateTypeMeta('kind', kind, { path, errors });
  if (isJsonObject(metadata)) validateMetadata(metadata, { path: `${path}.metadata`, errors });
}

function validateTypeMeta(
  name: 'apiVersion' | 'kind',
  value: unknown,
  { path, errors }: EmbeddedCheck,
): void {
  const at = `${path}.${name}`;
  if (value === undefined) errors.required(at);
  else if (typeof value !== 'string') errors.invalid(at, value, 'must be a string');
  else if (value === '') errors.invalid(at, value, 'must not be empty');
  else if (name === 'kind') {
    const problems = label1035Problems(value.toLowerCase());
    const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    if (problems.length > 0) errors.invalid(at, value, why);
  } else if (value.split('/').length > 2) {
    errors.invalid(at, value, `unexpected GroupVersion string: ${value}`);
  }
}

function validateMetadata(
  metadata: Readonly<Record<string, unknown>>,
  { path, errors }: EmbeddedCheck,
): void {
  const { name, generateName, namespace, labels, annotations } = metadata;
  const say = (field: string, value: unknown, problems: readonly string[]): void => {
    for (const problem of problems) errors.invalid(`${path}.${field}`, value, problem);
  };
  if (isText(generateName)) {
    say('generateName', generateName, generateNameProblems(generateName, 'path'));
  }
  if (isText(name)) say('name', name, nameProblems(name, 'path'));
  if (isText(namespace)) say('namespace', namespace, labelProblems(namespace));
  for (const [key, value] of textsOf(labels)) {
    say('labels', key, qualifiedNameProblems(key));
    say('labels', value, labelValueProblems(value));
  }
  for (const [key] of textsOf(annotations)) {
    say('annotations', key, qualifiedNameProblems(key.toLowerCase()));
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textsOf(map: unknown): readonly [string, string][] {
  const entries = isJsonObject(map) ? Object.entries(map) : [];
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}
