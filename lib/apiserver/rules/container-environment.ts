import type {
  V1Container,
  V1EnvFromSource,
  V1EnvVar,
  V1FileKeySelector,
  V1ObjectFieldSelector,
  V1ResourceFieldSelector,
  V1Volume,
} from '@kubernetes/client-node';
import {
  canonicalQuantity,
  configKeyProblems,
  labelProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';
import { validateNoBacksteps } from './container-mounts.js';

// Printable ASCII except `=`: the names of variables since Kubernetes 1.34.
const envName = /^[ -<>-~]+$/;

export function validateEnv(env: readonly Wire<V1EnvVar>[], errors: FieldErrors): void {
  errors.each('', env, (variable, errors) => {
    const { name } = variable;
    validateEnvName(name, errors.at('name'));
    validateValueFrom(variable, errors.at('valueFrom'));
  });
}

function validateEnvName(name: string, errors: FieldErrors): void {
  if (name === '') errors.required('');
  else if (!envName.test(name)) {
    const why =
      "a valid environment variable name must consist only of printable ASCII characters other than '='";
    errors.invalid('', name, why);
  }
}

function validateValueFrom({ value = '', valueFrom }: Wire<V1EnvVar>, errors: FieldErrors): void {
  if (valueFrom === undefined) return;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  if (fieldRef !== undefined) validateFieldRef(fieldRef, variablePaths, errors.at('fieldRef'));
  if (resourceFieldRef !== undefined) {
    validateResourceField(resourceFieldRef, false, errors.at('resourceFieldRef'));
  }
  for (const [member, selector] of Object.entries({ configMapKeyRef, secretKeyRef })) {
    if (selector === undefined) continue;
    const { name = '', key } = selector;
    errors.invalidEach(`${member}.name`, name, subdomainProblems(name));
    errors.requiredText(`${member}.key`, key, configKeyProblems);
  }
  if (fileKeyRef !== undefined) validateFileKey(fileKeyRef, errors.at('fileKeyRef'));
  const sources = Object.keys(valueFrom).length;
  if (sources === 0) {
    const why =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.invalid('', '', why);
  } else if (value !== '') {
    errors.invalid('', '', 'may not be specified when `value` is not empty');
  } else if (sources > 1) {
    errors.invalid('', '', 'may not have more than one field specified at a time');
  }
}

function validateFileKey(
  { key, volumeName, path }: Wire<V1FileKeySelector>,
  errors: FieldErrors,
): void {
  validateEnvName(key, errors.at('key'));
  errors.requiredText('volumeName', volumeName, labelProblems);
  if (path === '') errors.required('path');
  else validateNoBacksteps(path, errors.at('path'));
}

/**
 * Checks that the files with variables of a pod are in its emptyDir volumes.
 * @param containers - each with its path
 */
export function validateEnvFiles(
  volumes: readonly Wire<V1Volume>[],
  containers: readonly (readonly [Pick<Wire<V1Container>, 'env'>, string])[],
  errors: FieldErrors,
): void {
  const known = new Map(volumes.map((volume) => [volume.name, volume]));
  for (const [{ env = [] }, path] of containers) {
    errors.each(`${path}.env`, env, ({ valueFrom }, errors) => {
      const name = valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return;
      const at = 'valueFrom.fileKeyRef.volumeName';
      const volume = known.get(name);
      if (volume === undefined) errors.notFound(at, name);
      else if (volume.emptyDir === undefined) {
        errors.invalid(at, name, 'referenced volume must be of type emptyDir');
      }
    });
  }
}

const variablePaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** The fields of a pod that a `fieldRef` may name in at least one place. */
const knownPaths: ReadonlySet<string> = new Set([
  ...[...variablePaths, 'metadata.annotations', 'metadata.labels'],
  ...['spec.restartPolicy', 'spec.schedulerName', 'status.phase'],
]);

/**
 * Checks a reference to a field of the pod itself.
 * @param supported - the paths that are valid in this place, in addition to a single label or annotation
 */
export function validateFieldRef(
  { apiVersion = 'v1', fieldPath }: Wire<V1ObjectFieldSelector>,
  supported: readonly string[],
  errors: FieldErrors,
): void {
  const at = 'fieldPath';
  if (fieldPath === '') {
    errors.required(at);
    return;
  }
  const [map, key] = subscriptOf(fieldPath);
  const problem = conversionProblem({ apiVersion, fieldPath, map });
  // Older clients name the node in this way.
  const path = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (problem !== undefined)
    errors.invalid(at, fieldPath, `error converting fieldPath: ${problem}`);
  else if (key !== undefined) {
    const name = map === 'metadata.annotations' ? key.toLowerCase() : key;
    errors.invalidEach('', name, qualifiedNameProblems(name));
  } else if (!supported.includes(path)) errors.notSupported(at, path, supported);
}

/** Returns the map and the key of a path such as `metadata.labels['app']`; an empty map for other paths. */
function subscriptOf(path: string): [map: string, key?: string] {
  const start = path.indexOf("['");
  const end = path.length - 2;
  if (start < 1 || start + 2 > end || !path.endsWith("']")) return [''];
  return [path.slice(0, start), path.slice(start + 2, end)];
}

interface PathOfVersion {
  readonly apiVersion: string;
  readonly fieldPath: string;
  /** The map in a path with a key, such as `metadata.labels`; empty for other paths. */
  readonly map: string;
}

function conversionProblem({ apiVersion, fieldPath, map }: PathOfVersion): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (['metadata.annotations', 'metadata.labels'].includes(map)) return undefined;
  if (map !== '') return `field label does not support subscript: ${fieldPath}`;
  const isKnown = knownPaths.has(fieldPath) || fieldPath === 'spec.host';
  return isKnown ? undefined : `field label not supported: ${fieldPath}`;
}

const resourceNames = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${list}.${name}`),
);

const sizes = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';

/** The resources with a fixed set of divisors, each as: its name, its name in the message, the divisors. */
const divided = [
  [/^(limits|requests)\.cpu$/, 'cpu', '1m and 1'],
  [/^(limits|requests)\.memory$/, 'memory', sizes],
  [/^(limits|requests)\.ephemeral-storage$/, 'local ephemeral storage', sizes],
  [/^(limits|requests)\.hugepages-/, 'hugepages', sizes],
] as const;

/**
 * Checks a reference to a resource of a container (`resourceFieldRef`). A reference outside of a container must name
 * the container.
 */
export function validateResourceField(
  { containerName = '', resource, divisor = '0' }: Wire<V1ResourceFieldSelector>,
  isOutside: boolean,
  errors: FieldErrors,
): void {
  if (isOutside && containerName === '') errors.required('containerName');
  else if (resource === '') errors.required('resource');
  else if (
    !resourceNames.includes(resource) &&
    !/^(?:limits|requests)\.hugepages-/.test(resource)
  ) {
    errors.notSupported('resource', resource, resourceNames);
  }
  const given = canonicalQuantity(divisor);
  const [, name = '', divisors] = divided.find(([pattern]) => pattern.test(resource)) ?? [];
  if (given === '0' || divisors?.split(/, | and /).includes(given) !== false) return;
  const why = `only divisor's values ${divisors} are supported with the ${name} resource`;
  errors.invalid('divisor', resource, why);
}

/** Checks the ConfigMaps and Secrets whose entries all become variables of a container (`envFrom`). */
export function validateEnvFrom(
  sources: readonly Wire<V1EnvFromSource>[],
  errors: FieldErrors,
): void {
  for (const [index, { prefix = '', configMapRef, secretRef }] of sources.entries()) {
    const path = `[${index}]`;
    if (prefix !== '') validateEnvName(prefix, errors.at(`${path}.prefix`));
    for (const [member, reference] of Object.entries({ configMapRef, secretRef })) {
      if (reference === undefined) continue;
      const { name = '' } = reference;
      errors.requiredText(`${path}.${member}.name`, name, subdomainProblems);
    }
    if (configMapRef === undefined && secretRef === undefined) {
      errors.invalid('', '', 'must specify one of: `configMapRef` or `secretRef`');
    } else if (configMapRef !== undefined && secretRef !== undefined) {
      errors.invalid('', '', 'may not have more than one field specified at a time');
    }
  }
}
