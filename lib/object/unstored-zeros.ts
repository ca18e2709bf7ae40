import { fieldElement } from './field-path.js';
import type { PathElement } from './field-path.js';

// Members of built-in kinds for which the server does not tell a zero from nothing. For others it does:
// without `automountServiceAccountToken: false` there is a token.
const names = [
  ...['value', 'subPath', 'workingDir', 'readOnly', 'stdin', 'stdinOnce', 'tty'],
  ...['hostNetwork', 'hostPID', 'hostIPC', 'paused', 'publishNotReadyAddresses'],
  ...['minReadySeconds', 'initialDelaySeconds', 'hostPort', 'nodePort'],
];
const unstored: ReadonlySet<PathElement | undefined> = new Set(names.map(fieldElement));

/** Whether a built-in kind does not store `value` in its member `element`: `readOnly: false`. */
export function isUnstoredZero(value: unknown, element: PathElement | undefined): boolean {
  return (value === '' || value === false || value === 0) && unstored.has(element);
}
