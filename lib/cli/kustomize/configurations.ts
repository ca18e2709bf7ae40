import { isJsonObject } from '../../object/json.js';
import type { KustomizationFile } from './kustomization-file.js';
import { kustomizationError, unsupportedField } from './kustomization-error.js';
import { noSpecs } from './transform-specs.js';
import type { TransformSpecs } from './transform-specs.js';
import { parseDocuments } from './yaml-documents.js';

/** Of these a configuration adds fields. */
const supported = ['nameReference', 'namespace', 'images', 'replicas'] as const;
/** Fields for variables, which are not supported: what names none changes nothing. */
const idle = ['varReference'];

/**
 * Reads a file of `configurations`: which fields of custom resources name others.
 * @throws OperatorError `InvalidConfig`: something in it is not supported or wrong
 */
export function parseConfiguration(
  text: string,
  path: string,
  { folder }: KustomizationFile,
): TransformSpecs {
  const [content = {}] = parseDocuments(text, path);
  if (!isJsonObject(content)) throw kustomizationError(path, 'want a configuration of fields');
  const names: readonly string[] = [...supported, ...idle];
  for (const [name, value] of Object.entries(content)) {
    if (!names.includes(name)) throw unsupportedField(folder, path, name);
    if (!Array.isArray(value)) throw kustomizationError(path, `${name}: want a list`);
  }
  const known = Object.entries(content).filter(([name]) => !idle.includes(name));
  return { ...noSpecs, ...(Object.fromEntries(known) as unknown as Partial<TransformSpecs>) };
}
