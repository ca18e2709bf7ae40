import type { BackOffFactory } from './back-off.js';
import { exponentialBackOff } from './exponential-back-off.js';

/** Exponential back-off, from 500 ms by a factor of 1.5 up to 60 s, ± 50 %; ends after 7 retries. */
export function defaultBackOffFactory(): BackOffFactory {
  return (random) => exponentialBackOff({ maxRetries: 7, random });
}
