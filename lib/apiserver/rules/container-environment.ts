import type { V1EnvFromSource, V1EnvVar } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';
import { configKeyProblems, subdomainProblems } from '../../crd/internal.js';

// Printable ASCII except `=`: the names of variables since Kubernetes 1.34.
const envName = /^[ -<>-~]+$/;

/** Checks the variables of a container. */
export function validateEnv(
  env: readonly Wire<V1EnvVar>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, variable] of env.entries()) {
    const { name } = variable;
    const path = `${field}[${index}]`;
    if (name === '') errors.required(`${path}.name`);
    else if (!envName.test(name)) {
      const why =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
      errors.invalid(`${path}.name`, name, why);
    }
    validateValueFrom(variable, `${path}.valueFrom`, errors);
  }
}

function validateValueFrom(
  { value = '', valueFrom }: Wire<V1EnvVar>,
  field: string,
  errors: FieldErrors,
): void {
  if (valueFrom === undefined) return;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  validateFieldRef(fieldRef?.fieldPath, `${field}.fieldRef.fieldPath`, errors);
  validateResourceRef(resourceFieldRef?.resource, `${field}.resourceFieldRef.resource`, errors);
  for (const [member, selector] of Object.entries({ configMapKeyRef, secretKeyRef })) {
    if (selector === undefined) continue;
    const { name = '', key } = selector;
    errors.invalidEach(`${field}.${member}.name`, name, subdomainProblems(name));
    if (key === '') errors.required(`${field}.${member}.key`);
    if (key !== '') errors.invalidEach(`${field}.${member}.key`, key, configKeyProblems(key));
  }
  const sources = Object.keys(valueFrom).length;
  if (sources === 0) {
    const why =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.invalid(field, '', why);
  } else if (value !== '') {
    errors.invalid(field, '', 'may not be specified when `value` is not empty');
  } else if (sources > 1) {
    errors.invalid(field, '', 'may not have more than one field specified at a time');
  }
}

const fieldPaths: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

function validateFieldRef(path: string | undefined, field: string, errors: FieldErrors): void {
  if (path === undefined) return;
  if (path === '') {
    errors.required(field);
    return;
  }
  if (fieldPaths.has(path) || /^metadata\.(?:labels|annotations)\['.+'\]$/.test(path)) return;
  const why = `error converting fieldPath: field label not supported: ${path}`;
  errors.invalid(field, path, why);
}

const resourceNames = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${list}.${name}`),
);

function validateResourceRef(name: string | undefined, field: string, errors: FieldErrors): void {
  if (name === '') errors.required(field);
  else if (name !== undefined && !resourceNames.includes(name) && !/\.hugepages-./.test(name)) {
    errors.notSupported(field, name, resourceNames);
  }
}

/** Checks the objects from which a container takes all variables. */
export function validateEnvFrom(
  sources: readonly Wire<V1EnvFromSource>[],
  field: string,
  errors: FieldErrors,
): void {
  for (const [index, { configMapRef, secretRef }] of sources.entries()) {
    const path = `${field}[${index}]`;
    for (const [member, reference] of Object.entries({ configMapRef, secretRef })) {
      if (reference === undefined) continue;
      const { name = '' } = reference;
      if (name === '') errors.required(`${path}.${member}.name`);
      else {
        errors.invalidEach(`${path}.${member}.name`, name, subdomainProblems(name));
      }
    }
    if (configMapRef === undefined && secretRef === undefined) {
      errors.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`');
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.invalid(field, '', 'may not have more than one field specified at a time');
    }
  }
}
