import { stringify } from 'yaml';
import type { UserOptions } from '../apiserver/index.js';
import { OperatorError } from '../system/operator-error.js';

/** What a kubeconfig is made of. */
export interface KubeConfigParts {
  readonly url: string;
  /** The certificate of the server's authority, in PEM; undefined: it speaks HTTP. */
  readonly authority?: string | undefined;
  /** Who it is for; undefined: whoever needs no token. */
  readonly user: string | undefined;
  /** Bearer tokens and whom they stand for. */
  readonly users: Readonly<Record<string, string | UserOptions>>;
  /** The name of the cluster and of the context. @defaultValue 'embedded' */
  readonly cluster?: string | undefined;
  /** The namespace of the context. @defaultValue undefined: none, which is `default` */
  readonly namespace?: string | undefined;
}

/**
 * A kubeconfig with one context: YAML. It may hold a token: don't log it.
 * @throws OperatorError `InvalidOption`: no token stands for the user.
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
