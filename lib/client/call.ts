import type { TransportRequest } from '../system/transport.js';
import type { Fence } from './fence.js';

/** What a call is about, for its errors. */
export interface Call {
  /** `get`, `list`, `create`, `apply`, … */
  readonly verb: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** A {@link Call} as an HTTP request, before credentials. */
export interface ApiRequest {
  readonly call: Call;
  readonly method: TransportRequest['method'];
  /** Path and query. */
  readonly path: string;
  /** What answers are understood, where it is more than plain JSON. */
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
  /** Other headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** All of them must allow each attempt, right before it is sent. */
  readonly fences?: readonly Fence[] | undefined;
  /**
   * Sending it a second time does no harm when nobody knows whether the first one arrived: reads,
   * and writes that say which version they replace or whose outcome is the same.
   */
  readonly repeatable: boolean;
}

/** `get ConfigMap default/web`. */
export function describeCall({ verb, kind, namespace = '', name = '' }: Call): string {
  const key = namespace !== '' && name !== '' ? `${namespace}/${name}` : namespace + name;
  return key === '' ? `${verb} ${kind}` : `${verb} ${kind} ${key}`;
}
