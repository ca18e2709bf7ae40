import type {
  V1DownwardAPIVolumeFile,
  V1KeyToPath,
  V1ProjectedVolumeSource,
  V1VolumeProjection,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { FieldErrors } from './field-errors.js';

/** Checks the mode of a file. */
export function validateMode(mode: number | undefined, field: string, errors: FieldErrors): void {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return;
  errors.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}

/** Checks a path within a volume. */
export function validateLocalPath(path: string, field: string, errors: FieldErrors): void {
  if (path === '') errors.required(field);
  else if (path.startsWith('/')) errors.invalid(field, path, 'must be a relative path');
  else if (path.split('/').includes('..')) errors.invalid(field, path, "must not contain '..'");
  else if (path.startsWith('..')) errors.invalid(field, path, "must not start with '..'");
}

/** Checks the keys, paths and modes of files. */
export function validateItems(
  items: readonly Wire<V1KeyToPath>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { key, path, mode }] of items.entries()) {
    const at = `${field}[${index}]`;
    if (key === '') errors.required(`${at}.key`);
    validateLocalPath(path, `${at}.path`, errors);
    validateMode(mode, `${at}.mode`, errors);
  }
}

const annotated = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Checks files with data of the pod itself. The real server's paths have no index here. */
export function validateDownwardFiles(
  files: readonly Wire<V1DownwardAPIVolumeFile>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const { path, fieldRef, resourceFieldRef, mode } of files) {
    validateLocalPath(path, `${field}.path`, errors);
    if (fieldRef !== undefined) {
      const { fieldPath } = fieldRef;
      const known =
        annotated.includes(fieldPath) ||
        /^metadata\.(?:labels|annotations)\['.+'\]$/.test(fieldPath);
      if (!known) errors.notSupported(`${field}.fieldRef.fieldPath`, fieldPath, annotated);
      if (resourceFieldRef !== undefined) {
        const why = 'fieldRef and resourceFieldRef can not be specified simultaneously';
        errors.invalid(field, 'resource', why);
      }
    } else if (resourceFieldRef === undefined) {
      errors.required(field, 'one of fieldRef and resourceFieldRef is required');
    } else if ((resourceFieldRef.containerName ?? '') === '') {
      errors.required(`${field}.resourceFieldRef.containerName`);
    }
    validateMode(mode, `${field}.mode`, errors);
  }
}

interface Projecting {
  /** If true, the pod has a service account whose token can be projected. */
  readonly hasAccount: boolean;
  readonly errors: FieldErrors;
}

/** Checks a projected volume. */
export function validateProjected(
  { sources = [], defaultMode }: Wire<V1ProjectedVolumeSource>,
  field: string,
  { hasAccount, errors }: Projecting,
): void {
  validateMode(defaultMode, `${field}.defaultMode`, errors);
  const paths = new Set<string>();
  for (const [index, source] of sources.entries()) {
    const at = `${field}.sources[${index}]`;
    const [first, ...extra] = Object.keys(source);
    if (first !== undefined) validateSource(source, at, { first, field, hasAccount, errors });
    if (extra.length > 0) {
      errors.forbidden(at, 'may not specify more than 1 volume type per source');
    }
    for (const { path, name } of pathsOf(source)) {
      if (paths.has(path)) errors.invalid(field, name, 'conflicting duplicate paths');
      paths.add(path);
    }
  }
}

function validateSource(
  source: Wire<V1VolumeProjection>,
  at: string,
  { first, field, hasAccount, errors }: Projecting & { first: string; field: string },
): void {
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  for (const [member, projection] of Object.entries({ secret, configMap })) {
    if (projection === undefined || first !== member) continue;
    if ((projection.name ?? '') === '') errors.required(`${at}.${member}.name`);
    validateItems(projection.items ?? [], `${at}.${member}.items`, errors);
  }
  if (downwardAPI !== undefined) {
    validateDownwardFiles(downwardAPI.items ?? [], `${at}.downwardAPI`, errors);
  }
  if (serviceAccountToken === undefined) return;
  const path = `${at}.serviceAccountToken`;
  if (!hasAccount)
    errors.forbidden(path, 'must not be specified when serviceAccountName is not set');
  const { expirationSeconds, path: file } = serviceAccountToken;
  if (expirationSeconds !== undefined && expirationSeconds < 600) {
    const why = 'may not specify a duration less than 10 minutes';
    errors.invalid(`${path}.expirationSeconds`, expirationSeconds, why);
  }
  if (file === '') errors.required(`${field}.path`);
}

function pathsOf({
  secret,
  configMap,
}: Wire<V1VolumeProjection>): { path: string; name: string }[] {
  return [secret, configMap].flatMap((projection) =>
    (projection?.items ?? []).map(({ path }) => ({ path, name: projection?.name ?? '' })),
  );
}
