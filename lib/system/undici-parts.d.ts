import type { Dispatcher } from 'undici';

export { Client, Pool, buildConnector } from 'undici';

/** Sends a request through a dispatcher. */
export function send(
  this: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData>;
