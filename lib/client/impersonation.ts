import { invalidKubeConfig } from './kube-config-file.js';
import type { UserEntry } from './kube-config-file.js';

/**
 * The headers by which a user of a kubeconfig acts as another ("User impersonation" in the
 * Kubernetes documentation).
 * @throws OperatorError `InvalidKubeConfig`: several groups, or several values of one extra: they
 *   would be headers of one name, which no transport here can send.
 */
export function impersonationHeaders(user: UserEntry, source: string): Record<string, string> {
  const { as, 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = user;
  const headers: Record<string, string> = {};
  const add = (name: string, values: readonly string[]): void => {
    const [value, ...more] = values;
    if (more.length > 0) {
      throw invalidKubeConfig(source, `${name} has several values`, 'only one is supported');
    }
    if (value !== undefined) headers[name] = value;
  };
  add('impersonate-user', as === undefined ? [] : [as]);
  add('impersonate-uid', uid === undefined ? [] : [uid]);
  add('impersonate-group', groups);
  for (const [key, values] of Object.entries(extra)) {
    add(`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, values);
  }
  return headers;
}
