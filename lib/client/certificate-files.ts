import type { Clock } from '../system/clock.js';
import type { TlsOptions } from '../system/connector.js';
import type { Logger } from '../system/logger.js';
import type { Credentials } from './credentials.js';
import { errorMessage } from '../system/as-error.js';

/** Options of {@link withCertificateFiles}. */
export interface CertificateFilesOptions {
  /** Reads the files. Returns the same object while their content is unchanged. */
  readonly tls: () => Promise<TlsOptions>;
  /** Makes later requests use new connections. */
  readonly reconnect: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

// Certificates are rotated well before they expire.
const freshMs = 60_000;

/**
 * Wraps `credentials` of a user whose client certificate is in files that are replaced. A kept-alive
 * connection would present the old certificate forever, and the API server checks its expiry at each request.
 * The files are read again after a minute and after a 401; a changed certificate opens new connections.
 * Watches under way keep theirs. An unreadable file is logged once per problem.
 */
export function withCertificateFiles(
  credentials: Credentials,
  { tls, reconnect, clock, logger }: CertificateFilesOptions,
): Credentials {
  let used: TlsOptions | undefined;
  let readAtMs = -Infinity;
  let problem: string | undefined;
  const check = async (): Promise<void> => {
    readAtMs = clock.monotonicMs();
    const now = await tls();
    const isAnother = used !== undefined && (used.cert !== now.cert || used.key !== now.key);
    used = now;
    if (problem !== undefined) logger.info('the files of the client certificate can be read again');
    problem = undefined;
    if (isAnother) await reconnect();
  };
  const keepFormer = (error: unknown): void => {
    const message = errorMessage(error);
    if (message === problem) return;
    problem = message;
    logger.warn(
      'the files of the client certificate can not be read: the former one stays in use',
      {
        error,
      },
    );
  };
  return {
    headers: async () => {
      // The files may be absent for a moment. The current certificate may still be valid; if not, the server
      // answers 401.
      if (clock.monotonicMs() - readAtMs >= freshMs) await check().catch(keepFormer);
      return credentials.headers();
    },
    refresh: async () => {
      await check();
      await credentials.refresh?.();
    },
  };
}
