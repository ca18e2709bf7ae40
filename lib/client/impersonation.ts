import type { CredentialHeaders } from './credentials.js';
import type { UserEntry } from './kube-config-file.js';

/**
 * Returns the headers by which a kubeconfig user impersonates another ("User impersonation" in the Kubernetes
 * documentation). Each group and each extra value is a header of its own.
 */
export function impersonationHeaders(user: UserEntry): CredentialHeaders {
  const { as, 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = user;
  const headers: Record<string, string | readonly string[]> = {};
  if (as !== undefined) headers['impersonate-user'] = as;
  if (uid !== undefined) headers['impersonate-uid'] = uid;
  if (groups.length > 0) headers['impersonate-group'] = groups;
  for (const [key, values] of Object.entries(extra)) {
    headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = values;
  }
  return headers;
}
