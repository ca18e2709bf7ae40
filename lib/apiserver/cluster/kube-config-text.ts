import { stringify } from 'yaml';
import type { UserOptions } from '../auth/authenticator.js';
import { OperatorError } from '../../system/index.js';

export interface KubeConfigParts {
  readonly url: string;
  /** The certificate of the server's authority in PEM format; undefined for HTTP. */
  readonly authority?: string | undefined;
  /** The user of the kubeconfig; undefined for a client without token. */
  readonly user: string | undefined;
  /** Users by bearer token. */
  readonly users: Readonly<Record<string, string | UserOptions>>;
  /** The name of the cluster and of the context. @defaultValue 'embedded' */
  readonly cluster?: string | undefined;
  /** The namespace of the context. @defaultValue none, which means `default` */
  readonly namespace?: string | undefined;
}

/**
 * Returns a kubeconfig with one context, in YAML. It may contain a token: don't log it.
 * @throws OperatorError `InvalidOption`: the user has no token.
 */
export function kubeConfigText(parts: KubeConfigParts): string {
  const { url, authority, user, users, cluster = 'embedded', namespace } = parts;
  const name = user ?? 'admin';
  const data = authority === undefined ? '' : Buffer.from(authority).toString('base64');
  const trust = data === '' ? {} : { 'certificate-authority-data': data };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: { server: url, ...trust } }],
    users: [{ name, user: user === undefined ? {} : { token: tokenOf(user, users) } }],
    contexts: [
      { name: cluster, context: { cluster, user: name, ...(namespace && { namespace }) } },
    ],
    'current-context': cluster,
  });
}

function tokenOf(user: string, users: KubeConfigParts['users']): string {
  const found = Object.entries(users).find(
    ([, known]) => (typeof known === 'string' ? known : known.name) === user,
  );
  if (found === undefined) {
    throw new OperatorError('InvalidOption', `no user ${user}: name it in the option users`);
  }
  return found[0];
}
