import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import {
  errorMessage,
  waited,
  refuseNonNumbers,
  refuseUnknownOptions,
  OperatorError,
} from '../../system/index.js';
import type { Clock, Logger } from '../../system/index.js';
import type { RequiredAccess } from '../access/required-access.js';

/** Certificate and key of a TLS server, in PEM. */
export interface ServingCertificate {
  /** The certificate, followed by its intermediates. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** Argument of `start` of a {@link CertificateSource}. */
export interface CertificateContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops the source; it leaves no timer behind. */
  readonly signal: AbortSignal;
  /** Called with each replacement of the certificate. */
  readonly onChange: (certificate: ServingCertificate) => void;
}

/** Provides the certificate of a webhook server. */
export interface CertificateSource {
  /** Access that the source needs, for the RBAC preflight. @defaultValue nothing */
  readonly access?: readonly RequiredAccess[] | undefined;
  /**
   * Resolves with the first certificate, and calls `onChange` with later ones until `signal` is aborted.
   * @throws OperatorError there is no certificate.
   */
  start(context: CertificateContext): Promise<ServingCertificate>;
}

/** Options of {@link certificateFiles}. */
export interface CertificateFilesOptions {
  /** A folder with `tls.crt` and `tls.key`, such as a mounted Secret of cert-manager. */
  readonly folder: string;
  /** Interval of reading the files, in milliseconds, at least 1. @defaultValue 10_000 */
  readonly intervalMs?: number | undefined;
}

/**
 * Returns a certificate source for two files that another program rewrites. The files are read every 10 s;
 * file events would miss the swapped symlink of a mounted Secret. If the files do not match, as during a
 * change, the previous certificate stays in use. Each such problem is logged once.
 */
export function certificateFiles(options: CertificateFilesOptions): CertificateSource {
  const { folder, intervalMs = 10_000 } = options;
  const known = { folder, intervalMs };
  refuseUnknownOptions<CertificateFilesOptions>('certificateFiles', options, known);
  refuseNonNumbers('certificateFiles', { intervalMs });
  if (!(intervalMs >= 1)) {
    throw new OperatorError('InvalidOption', `intervalMs ${intervalMs}: want 1 or more`);
  }
  const read = async (): Promise<ServingCertificate> => {
    const paths = [`${folder}/tls.crt`, `${folder}/tls.key`];
    const [certificate = '', privateKey = ''] = await Promise.all(
      paths.map((path) => readFile(path, 'utf8')),
    );
    // Node accepts an empty certificate or key, and fails every handshake.
    const empty = certificate === '' ? 'tls.crt' : privateKey === '' ? 'tls.key' : undefined;
    if (empty !== undefined) throw new OperatorError('InvalidValue', `${empty} is empty`);
    // Throws if certificate and key do not match.
    createSecureContext({ cert: certificate, key: privateKey });
    return { certificate, privateKey };
  };
  return {
    start: async (context) => {
      const first = await read().catch((cause: unknown) => {
        const why = errorMessage(cause);
        const remedy = 'mount a Secret with tls.crt and tls.key there';
        throw new OperatorError('InvalidOption', `certificate in ${folder}: ${why} (${remedy})`, {
          cause,
        });
      });
      void follow({ read, first, intervalMs }, context);
      return first;
    },
  };
}

interface Following {
  readonly read: () => Promise<ServingCertificate>;
  readonly first: ServingCertificate;
  readonly intervalMs: number;
}

async function follow(
  { read, first, intervalMs }: Following,
  { clock, signal, logger, onChange }: CertificateContext,
): Promise<void> {
  let current = first;
  let problem: string | undefined;
  while (await waited(clock, intervalMs, signal)) {
    try {
      const next = await read();
      if (problem !== undefined) logger.info('the certificate files can be used again');
      problem = undefined;
      if (next.certificate === current.certificate && next.privateKey === current.privateKey) {
        continue;
      }
      current = next;
      logger.info('the certificate was replaced');
      onChange(next);
    } catch (error) {
      if (errorMessage(error) === problem) continue;
      problem = errorMessage(error);
      logger.warn('certificate files cannot be used; the previous certificate stays in use', {
        error,
      });
    }
  }
}
