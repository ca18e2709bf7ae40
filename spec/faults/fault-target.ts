import type { Client } from '../../lib/client/index.js';
import type { OpenUpstream } from './fault-proxy.js';

/** A server that the fault suite runs against. */
export interface FaultTarget {
  /** Straight to the server, as an administrator. */
  readonly admin: Client;
  readonly openUpstream: OpenUpstream;
  /** The bearer token for requests through the proxy; undefined: none is needed. */
  readonly token: string | undefined;
  /** A new, empty namespace. */
  namespace(): Promise<string>;
  /** Makes the server forget its history: older versions can't be watched from any more. */
  forget(): Promise<void>;
  close(): Promise<void>;
}
