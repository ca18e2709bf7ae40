import { readFile } from 'node:fs/promises';
import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { Credentials } from './credentials.js';
import { errorMessage } from '../system/as-error.js';

// The kubelet replaces a token after 80 % of its lifetime, at the earliest after 8 minutes.
const freshMs = 60_000;

/**
 * Reads the token from a file that another process rewrites, as the kubelet does with a service account's. It
 * is read again after a minute, client-go's interval, and after a 401.
 * @throws OperatorError `InvalidKubeConfig` at a request: the file could never be read.
 */
export function tokenFile(path: string, clock: Clock): Credentials {
  let headers: Readonly<Record<string, string>> | undefined;
  let readAtMs = 0;
  const read = async (): Promise<void> => {
    const token = (await readFile(path, 'utf8')).trim();
    if (token === '') throw new Error('it is empty');
    headers = { authorization: `Bearer ${token}` };
    readAtMs = clock.monotonicMs();
  };
  return {
    headers: async () => {
      if (headers !== undefined && clock.monotonicMs() - readAtMs < freshMs) return headers;
      try {
        await read();
      } catch (error) {
        // The current token may still be valid; if not, the server answers 401.
        if (headers === undefined) throw unreadable(path, error);
        readAtMs = clock.monotonicMs();
      }
      return headers ?? {};
    },
    refresh: () =>
      read().catch((error: unknown) => {
        throw unreadable(path, error);
      }),
  };
}

function unreadable(path: string, cause: unknown): OperatorError {
  const reason = errorMessage(cause);
  const message = `token file ${path}: ${reason} (mount a service account token there)`;
  return new OperatorError('InvalidKubeConfig', message, { cause });
}
