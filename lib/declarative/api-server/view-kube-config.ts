import { kubeConfigText } from '../../embedded/kube-config-text.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import { readCertificate } from '../../system/x509.js';
import { writePrivateFiles } from './private-files.js';

/** What {@link viewKubeConfig} is made of. */
export interface ViewKubeConfigOptions {
  /** Where the server is: `https://…`, or `http://…` with neither certificate nor token. */
  readonly server: string;
  /** The certificate of the server, in PEM. @defaultValue undefined: HTTP, or one that is known */
  readonly certificate?: string | undefined;
  /** A token of `createToken`. @defaultValue undefined: none, as for HTTP */
  readonly token?: string | undefined;
  /** What the user is called in the file. @defaultValue 'views' */
  readonly user?: string | undefined;
  /** The namespace of commands that name none. @defaultValue undefined: `default` */
  readonly namespace?: string | undefined;
}

/**
 * A kubeconfig for kubectl: YAML. It holds the token: a secret.
 * @throws OperatorError `InvalidOption`: the server is no URL, a token would go over plain HTTP, or the
 * certificate is none.
 */
export function viewKubeConfig(options: ViewKubeConfigOptions): string {
  const { server, certificate, token, user = 'views', namespace } = options;
  const names = { server, certificate, token, user, namespace };
  refuseUnknownOptions<ViewKubeConfigOptions>('kubeconfig of views', options, names);
  const { protocol } = URL.canParse(server) ? new URL(server) : { protocol: '' };
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw wrong(`server ${JSON.stringify(server)} is no https:// or http:// URL`);
  }
  if (protocol === 'http:' && token !== undefined) {
    throw wrong('a token must not go over plain HTTP: use https://, or leave the token out');
  }
  if (certificate !== undefined && readCertificate(certificate) === undefined) {
    throw wrong('the certificate is none in PEM');
  }
  return kubeConfigText({
    url: server,
    authority: certificate,
    user: token === undefined ? undefined : user,
    users: token === undefined ? {} : { [token]: user },
    cluster: 'views',
    namespace,
  });
}

/**
 * Writes {@link viewKubeConfig} to a file that only its owner can read (mode 0600).
 * @param options - `force`: replace a file that is there. @defaultValue false
 * @throws OperatorError `InvalidOption`: as `viewKubeConfig`, or the file is there, and `force` is not
 * given.
 */
export async function writeViewKubeConfig(
  path: string,
  options: ViewKubeConfigOptions & { readonly force?: boolean | undefined },
): Promise<void> {
  const { force = false, ...of } = options;
  await writePrivateFiles(new Map([[path, viewKubeConfig(of)]]), { force });
}

function wrong(what: string): OperatorError {
  return new OperatorError('InvalidOption', `kubeconfig of views: ${what}`);
}
