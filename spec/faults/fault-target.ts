import type { Client } from '../../lib/client/index.js';
import type { OpenUpstream } from './fault-proxy.js';

/** A server that the fault suite runs against. */
export interface FaultTarget {
  /** A client without the proxy, with all permissions. */
  readonly admin: Client;
  readonly openUpstream: OpenUpstream;
  /** The bearer token for requests through the proxy, or undefined if none is needed. */
  readonly token: string | undefined;
  /** Creates an empty namespace and returns its name. */
  namespace(): Promise<string>;
  /** Compacts the history of the server, so that older versions cannot be watched. */
  forget(): Promise<void>;
  close(): Promise<void>;
}
