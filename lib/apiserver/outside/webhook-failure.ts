import { errorMessage } from '../../system/as-error.js';
/** A response did not arrive in time. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('context deadline exceeded');
  }
}

interface ConnectionError {
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly cert?: { readonly subjectaltname?: string };
  readonly host?: string;
}

const untrusted: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Returns the real server's message for a connection error. */
export function webhookFailure(error: unknown): string {
  const { code = '', address = '', port = 0, hostname = '' } = error as ConnectionError;
  const certificate = 'tls: failed to verify certificate: x509: ';
  if (untrusted.has(code)) return `${certificate}certificate signed by unknown authority`;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}:${port}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${hostname}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `${certificate}certificate has expired or is not yet valid`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return certificate + wrongName(error as ConnectionError);
    case 'EPROTO':
      return 'http: server gave HTTP response to HTTPS client';
    default:
      return errorMessage(error);
  }
}

function wrongName({ cert, host = '' }: ConnectionError): string {
  const names = (cert?.subjectaltname ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:'))
    .map((name) => name.slice('DNS:'.length));
  if (names.length === 0)
    return `certificate is not valid for any names, but wanted to match ${host}`;
  return `certificate is valid for ${names.join(', ')}, not ${host}`;
}
