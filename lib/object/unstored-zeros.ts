import type { Schema } from './schema.js';

// Members of built-in kinds for which the server does not tell a zero from nothing. For others it does:
// without `automountServiceAccountToken: false` there is a token.
const unstored: ReadonlySet<string> = new Set([
  ...['value', 'subPath', 'workingDir', 'readOnly', 'stdin', 'stdinOnce', 'tty'],
  ...['hostNetwork', 'hostPID', 'hostIPC', 'paused', 'publishNotReadyAddresses'],
  ...['minReadySeconds', 'initialDelaySeconds', 'hostPort', 'nodePort'],
]);

/**
 * Whether a built-in kind does not store `value` as its member `name`, as `readOnly: false`.
 * @param schema - of what has the member.
 */
export function isUnstoredZero(value: unknown, name: string, schema: Schema | undefined): boolean {
  const isZero = value === '' || value === false || value === 0;
  if (!isZero || !unstored.has(name)) return false;
  const { properties } = schema ?? {};
  return properties !== undefined && Object.hasOwn(properties, name);
}
