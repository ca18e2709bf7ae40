import type { BackOffFactory } from './back-off.js';
import { exponentialBackOff } from './exponential-back-off.js';

/** Exponential, from 500 ms by half as much again up to 60 s, ± 50 %; gives up after 7 more tries. */
export function defaultBackOffFactory(): BackOffFactory {
  return (random) => exponentialBackOff({ maxRetries: 7, random });
}
