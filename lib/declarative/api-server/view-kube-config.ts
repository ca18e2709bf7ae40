import { kubeConfigText } from '../../embedded/kube-config-text.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import { readCertificate } from '../../system/x509.js';
import { writePrivateFiles } from './private-files.js';

/** Options of {@link viewKubeConfig}. */
export interface ViewKubeConfigOptions {
  /** URL of the server: `https://…`, or `http://…` without certificate and token. */
  readonly server: string;
  /**
   * The certificate of the server in PEM.
   * @defaultValue undefined: HTTP, or a publicly trusted certificate
   */
  readonly certificate?: string | undefined;
  /** A token of `createToken`. @defaultValue undefined: no token, as for HTTP */
  readonly token?: string | undefined;
  /** Name of the user in the file. @defaultValue 'views' */
  readonly user?: string | undefined;
  /** Default namespace of commands. @defaultValue undefined: `default` */
  readonly namespace?: string | undefined;
}

/**
 * Returns a kubeconfig for kubectl, as YAML. It contains the token and so is a secret.
 * @throws OperatorError `InvalidOption`: the server is not a URL, a token would be sent over plain HTTP,
 * or the certificate is invalid.
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
    throw wrong('invalid certificate; want PEM');
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
 * @param options - `force`: replace an existing file.
 * @defaultValue false
 * @throws OperatorError `InvalidOption`: as `viewKubeConfig`, or the file exists and `force` is not set.
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
