import type { V1ConfigMap, V1ObjectMeta, V1Secret } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';
import type { FieldErrors } from '../../crd/internal.js';
import { typedRules } from './kind-rules.js';
import {
  deepEqual,
  configKeyProblems,
  generateNameProblems,
  setMember,
} from '../../object/index.js';
import type { KindRules } from './kind-rules.js';

type ConfigMap = Wire<V1ConfigMap>;
type Secret = Wire<V1Secret>;

const sizeLimit = 1024 * 1024;
const fixed = 'field is immutable when `immutable` is set';

function validateKeys(data: object | undefined, errors: FieldErrors): void {
  for (const key of Object.keys(data ?? {})) {
    errors.invalidEach(`[${key}]`, key, configKeyProblems(key));
  }
}

function base64Size(data: Readonly<Record<string, string>> | undefined): number {
  return Object.values(data ?? {}).reduce(
    (sum, text) => sum + Buffer.byteLength(text, 'base64'),
    0,
  );
}

function textSize(data: Readonly<Record<string, string>> | undefined): number {
  return Object.values(data ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

interface Immutable {
  readonly immutable?: boolean;
  readonly data?: unknown;
  readonly binaryData?: unknown;
}

function keepData(object: Immutable, old: Immutable, errors: FieldErrors): void {
  if (old.immutable !== true) return;
  if (object.immutable !== true) errors.forbidden('immutable', fixed);
  for (const member of ['data', 'binaryData'] as const) {
    if (!deepEqual(object[member], old[member])) errors.forbidden(member, fixed);
  }
}

/** Checks the prefix for generated names in an update. Most kinds check it in creates only. */
function validatePrefix(metadata: Wire<V1ObjectMeta> | undefined, errors: FieldErrors): void {
  errors.optionalText('metadata.generateName', metadata?.generateName, (prefix) =>
    generateNameProblems(prefix, 'subdomain'),
  );
}

const configMap = typedRules<ConfigMap>({
  validate: ({ data, binaryData }, errors) => {
    validateKeys(data, errors.at('data'));
    for (const key of Object.keys(data ?? {})) {
      if (!Object.hasOwn(binaryData ?? {}, key)) continue;
      errors.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData');
    }
    validateKeys(binaryData, errors.at('binaryData'));
    if (textSize(data) + base64Size(binaryData) > sizeLimit) errors.tooLong('[]', sizeLimit);
  },
  validateUpdate: (object, old, errors) => {
    validatePrefix(object.metadata, errors);
    keepData(object, old, errors);
  },
});

/** Moves the write-only `stringData` to `data`, in base64. */
function mergeStringData(secret: Secret): void {
  const { stringData } = secret;
  if (stringData !== undefined) {
    // Changes the decoded map, not a copy: `hasNullBytes` finds the null bytes of that map only.
    const data = (secret.data ??= {});
    for (const [key, text] of Object.entries(stringData)) {
      setMember(data, key, Buffer.from(text).toString('base64'));
    }
    delete secret.stringData;
  }
  secret.type ??= 'Opaque';
}

const requiredKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

function validateType({ metadata, data = {}, type = '' }: Secret, errors: FieldErrors): void {
  for (const key of requiredKeys.get(type) ?? []) {
    if (data[key] === undefined) errors.required(`data[${key}]`);
  }
  if (type === 'kubernetes.io/ssh-auth' && (data['ssh-privatekey'] ?? '') === '') {
    errors.required('data[ssh-privatekey]');
  }
  if (type === 'kubernetes.io/basic-auth') {
    if (data['username'] !== undefined || data['password'] !== undefined) return;
    errors.required('data[username]');
    errors.required('data[password]');
  }
  if (type === 'kubernetes.io/service-account-token') {
    const annotation = 'kubernetes.io/service-account.name';
    const name = metadata?.annotations?.[annotation] ?? '';
    if (name === '') errors.required(`metadata.annotations[${annotation}]`);
  }
  if (type === 'kubernetes.io/dockerconfigjson' || type === 'kubernetes.io/dockercfg') {
    const [key = ''] = requiredKeys.get(type) ?? [];
    const { [key]: text } = data;
    if (text !== undefined) validateJson(`data[${key}]`, text, errors);
  }
}

function validateJson(field: string, base64: string, errors: FieldErrors): void {
  try {
    JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
  } catch {
    // Go's message includes a character of the secret; this message does not.
    errors.invalid(field, '<secret contents redacted>', 'invalid JSON');
  }
}

const secret = typedRules<Secret>({
  defaults: mergeStringData,
  validate: (object, errors) => {
    validateKeys(object.data, errors.at('data'));
    if (base64Size(object.data) > sizeLimit) errors.tooLong('data', sizeLimit);
    validateType(object, errors);
  },
  validateUpdate: (object, old, errors) => {
    validatePrefix(object.metadata, errors);
    errors.immutable('type', object.type, old.type);
    keepData(object, old, errors);
  },
  warnings: ({ type, data }) => (type === 'kubernetes.io/tls' ? pairWarnings(data) : []),
  selectableFields: ({ type }) => ({ type: type ?? '' }),
});

/** Returns a warning if the certificate has no PEM block, else if the key has none. */
function pairWarnings(data: Readonly<Record<string, string>> = {}): readonly string[] {
  const hasBlock = (key: string): boolean => {
    const text = Buffer.from(data[key] ?? '', 'base64').toString();
    const [begin] = /-----BEGIN [^-]+-----[ \t]*\r?\n/.exec(text) ?? [''];
    const end = begin.replace('BEGIN', 'END').trim();
    return begin !== '' && text.indexOf(end, text.indexOf(begin)) >= 0;
  };
  const missing = 'tls: failed to find any PEM data in';
  if (!hasBlock('tls.crt')) return [`${missing} certificate input`];
  return hasBlock('tls.key') ? [] : [`${missing} key input`];
}

export const configRules: Readonly<Record<string, KindRules>> = {
  '/v1/ConfigMap': configMap,
  '/v1/Secret': secret,
};
