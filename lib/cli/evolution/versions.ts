import type { CustomResourceDefinition, Schema } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

export type CrdVersion = CustomResourceDefinition['spec']['versions'][number];

/** Returns the schema of a version's objects. */
export function schemaOf({ schema }: CrdVersion): Schema {
  return (schema?.openAPIV3Schema ?? { type: 'object' }) as Schema;
}

/**
 * Returns the version in which a definition stores objects.
 * @throws OperatorError `InvalidConfig`: the definition has none
 */
export function storageOf({ metadata, spec }: CustomResourceDefinition): CrdVersion {
  const storage = spec.versions.find((version) => version.storage);
  if (storage !== undefined) return storage;
  const message = `${metadata.name}: no version is stored; set storage: true for one`;
  throw new OperatorError('InvalidConfig', message);
}

/** Whether a webhook converts between the versions. */
export function isConverted({ spec }: CustomResourceDefinition): boolean {
  return spec.conversion?.strategy === 'Webhook';
}

/** Returns the versions in `stored` that a definition lacks. An API server refuses such a definition. */
export function versionsWithout({ spec }: CustomResourceDefinition, stored: readonly string[]) {
  return stored
    .filter((version) => spec.versions.every(({ name }) => name !== version))
    .map((version) => ({
      version,
      message: `${version} is gone, and objects are stored in it: the server refuses the definition`,
      remedy: `keep ${version} (served: false is enough) until all objects are stored in another version and it is taken out of status.storedVersions`,
    }));
}
