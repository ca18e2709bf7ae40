import type { V1KeyToPath, V1Volume } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { FieldErrors } from './field-errors.js';
import { labelProblems } from './names.js';
import { validateClaimSpec } from './claims.js';

const modeMessage = 'must be a number between 0 and 0777 (octal), both inclusive';

/** Checks a pod's volumes. @returns the names of those that are valid */
export function validateVolumes(
  volumes: readonly Wire<V1Volume>[],
  field: string,
  errors: FieldErrors,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, volume] of volumes.entries()) {
    const path = `${field}[${index}]`;
    const own = new FieldErrors();
    validateSource(volume, path, own);
    const { name } = volume;
    if (name === '') own.required(`${path}.name`);
    else for (const problem of labelProblems(name)) own.invalid(`${path}.name`, name, problem);
    if (names.has(name)) own.duplicate(`${path}.name`, name);
    if (own.empty) names.add(name);
    else errors.causes.push(...own.causes);
  }
  return names;
}

function validateSource(volume: Wire<V1Volume>, path: string, errors: FieldErrors): void {
  const [first, ...extra] = Object.keys(volume).filter((member) => member !== 'name');
  if (first === undefined) errors.required(path, 'must specify a volume type');
  for (const member of extra) {
    errors.forbidden(`${path}.${member}`, 'may not specify more than 1 volume type');
  }
  const { configMap, secret, persistentVolumeClaim, hostPath, nfs, ephemeral, csi } = volume;
  if (configMap !== undefined) {
    if ((configMap.name ?? '') === '') errors.required(`${path}.configMap.name`);
    validateMode(configMap.defaultMode, `${path}.configMap.defaultMode`, errors);
    validateItems(configMap.items ?? [], `${path}.configMap.items`, errors);
  }
  if (secret !== undefined) {
    if ((secret.secretName ?? '') === '') errors.required(`${path}.secret.secretName`);
    validateMode(secret.defaultMode, `${path}.secret.defaultMode`, errors);
    validateItems(secret.items ?? [], `${path}.secret.items`, errors);
  }
  if (persistentVolumeClaim?.claimName === '') {
    errors.required(`${path}.persistentVolumeClaim.claimName`);
  }
  if (hostPath?.path === '') errors.required(`${path}.hostPath.path`);
  if (nfs?.server === '') errors.required(`${path}.nfs.server`);
  if (nfs?.path === '') errors.required(`${path}.nfs.path`);
  if (csi?.driver === '') errors.required(`${path}.csi.driver`);
  const template = ephemeral?.volumeClaimTemplate;
  if (ephemeral !== undefined && template === undefined) {
    errors.required(`${path}.ephemeral.volumeClaimTemplate`);
  }
  if (template !== undefined) {
    validateClaimSpec(template.spec, `${path}.ephemeral.volumeClaimTemplate.spec`, errors);
  }
}

function validateMode(mode: number | undefined, field: string, errors: FieldErrors): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) errors.invalid(field, mode, modeMessage);
}

function validateItems(
  items: readonly Wire<V1KeyToPath>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { key, path, mode }] of items.entries()) {
    const at = `${field}[${index}]`;
    if (key === '') errors.required(`${at}.key`);
    if (path === '') errors.required(`${at}.path`);
    else if (path.startsWith('/')) errors.invalid(`${at}.path`, path, 'must be a relative path');
    else if (path.startsWith('..')) errors.invalid(`${at}.path`, path, "must not start with '..'");
    validateMode(mode, `${at}.mode`, errors);
  }
}
