import type { CredentialHeaders } from './credentials.js';
import type { UserEntry } from './kube-config-file.js';

/**
 * The headers by which a user of a kubeconfig acts as another ("User impersonation" in the
 * Kubernetes documentation). Groups and values of an extra are a header each.
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
