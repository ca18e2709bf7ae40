import type { Schema } from './schema.js';

// Members of built-in kinds for which a zero equals an absent value on the server. For other members it does
// not: without `automountServiceAccountToken: false` there is a token.
const unstored: ReadonlySet<string> = new Set([
  ...['value', 'subPath', 'workingDir', 'readOnly', 'stdin', 'stdinOnce', 'tty'],
  ...['hostNetwork', 'hostPID', 'hostIPC', 'paused', 'publishNotReadyAddresses'],
  ...['minReadySeconds', 'initialDelaySeconds', 'hostPort', 'nodePort'],
]);

/**
 * Whether a built-in kind does not store `value` as its member `name`, for example `readOnly: false`.
 * @param schema - the schema of the object with the member.
 */
export function isUnstoredZero(value: unknown, name: string, schema: Schema | undefined): boolean {
  const isZero = value === '' || value === false || value === 0;
  if (!isZero || !unstored.has(name)) return false;
  const { properties } = schema ?? {};
  return properties !== undefined && Object.hasOwn(properties, name);
}
