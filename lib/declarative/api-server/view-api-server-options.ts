import { isLoopback } from '../../manager/inspector/bind-inspector.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { silentLogger } from '../../system/logger.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { fitTogether, readCertificate } from '../../system/x509.js';
import { verifyingKeys } from './token-key.js';
import type { VerifyingKey } from './token-key.js';

/** The certificate of an HTTPS server and its key, in PEM. */
export interface ViewTls {
  readonly certificate: string;
  readonly privateKey: string;
}

/** Options of {@link ViewApiServer}. */
export interface ViewApiServerOptions {
  /** 0: any free port. @defaultValue 18443 */
  readonly port?: number | undefined;
  /** The address to listen on. Without `tls` it must be a loopback address. @defaultValue '127.0.0.1' */
  readonly host?: string | undefined;
  /** Serve over HTTPS; clients need a token. @defaultValue undefined: HTTP, for all local clients */
  readonly tls?: ViewTls | undefined;
  /**
   * The keys that verify tokens: public RSA keys or certificates in PEM, one after the other.
   * @defaultValue the certificate of `tls`, if there is no `tokenKeyFile`
   */
  readonly tokenKey?: string | undefined;
  /**
   * A file with such keys. The server reads changes of it: keys can be rotated without a restart.
   * @defaultValue undefined: the keys are fixed
   */
  readonly tokenKeyFile?: string | undefined;
  /** Logs the start, and why tokens are refused (debug). @defaultValue no logger */
  readonly logger?: Logger | undefined;
}

/** {@link ViewApiServerOptions} with defaults, validated. */
export interface ResolvedViewApiServerOptions {
  readonly port: number;
  readonly host: string;
  readonly tls: ViewTls | undefined;
  /** undefined: tokens are not used. */
  readonly tokenKeys: readonly VerifyingKey[] | undefined;
  readonly tokenKeyFile: string | undefined;
  readonly logger: Logger;
}

/** @throws OperatorError `InvalidOption`. */
export function resolveViewApiServerOptions(
  options: ViewApiServerOptions,
): ResolvedViewApiServerOptions {
  refuseUnknownOptions<ViewApiServerOptions>(subject, options, optionNames);
  const { port = 18_443, host = '127.0.0.1', tls, logger = silentLogger } = options;
  const { tokenKey, tokenKeyFile } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw wrong(`want a port from 0 to 65535, got ${port}`);
  }
  if (tls === undefined) {
    if (!isLoopback(host)) {
      throw wrong(
        `HTTP is for loopback only, not for ${host}: give tls, a certificate and its key`,
      );
    }
    if (tokenKey !== undefined || tokenKeyFile !== undefined) {
      throw wrong('tokenKey is for HTTPS: give tls, or leave it out');
    }
    return { port, host, tls, tokenKeys: undefined, tokenKeyFile, logger };
  }
  checkTls(tls);
  const pem = tokenKey ?? (tokenKeyFile === undefined ? tls.certificate : undefined);
  const tokenKeys = pem === undefined ? [] : verifyingKeys(pem);
  return { port, host, tls, tokenKeys, tokenKeyFile, logger };
}

const subject = 'API server of views';
const optionNames = {
  ...{ port: true, host: true, tls: true, tokenKey: true, tokenKeyFile: true, logger: true },
};

function checkTls(tls: ViewTls): void {
  refuseUnknownOptions<ViewTls>(`${subject}: tls`, tls, { certificate: true, privateKey: true });
  const { certificate, privateKey } = tls;
  const read = readCertificate(certificate);
  if (read === undefined) throw wrong('tls.certificate is no certificate in PEM');
  if (!fitTogether(read, privateKey)) {
    throw wrong('tls.privateKey is not the private key of the certificate');
  }
}

function wrong(what: string): OperatorError {
  return new OperatorError('InvalidOption', `${subject}: ${what}`);
}
