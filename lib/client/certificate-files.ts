import type { Clock } from '../system/clock.js';
import type { TlsOptions } from '../system/connector.js';
import type { Logger } from '../system/logger.js';
import type { Credentials } from './credentials.js';
import { errorMessage } from '../system/as-error.js';

/** Options of {@link withCertificateFiles}. */
export interface CertificateFilesOptions {
  /** Reads the files; the same object as long as they hold the same. */
  readonly tls: () => Promise<TlsOptions>;
  /** Has requests from now on use new connections. */
  readonly reconnect: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

// Whoever rotates certificates does so well before they expire.
const freshMs = 60_000;

/**
 * `credentials` of somebody whose client certificate stands in files that are replaced: a connection
 * that is kept alive would show the old certificate for ever, and the API server looks at its end at
 * each request. The files are read again after a minute, and after a 401; another certificate means
 * new connections. Watches under way end on theirs. Files that can't be read are logged once, until they
 * can, or something else is wrong with them.
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
      // Files that are away for a moment: the certificate that we have may still be good; if not,
      // the 401 says so.
      if (clock.monotonicMs() - readAtMs >= freshMs) await check().catch(keepFormer);
      return credentials.headers();
    },
    refresh: async () => {
      await check();
      await credentials.refresh?.();
    },
  };
}
