import type { TransportRequest } from '../system/transport.js';
import type { Fence } from './fence.js';

/** The verb and the object of a call, for error messages. */
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
  /** The path with its query. */
  readonly path: string;
  /** The `Accept` header. Absent: plain JSON. */
  readonly accept?: string | undefined;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
  /** Other headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Every fence must allow each attempt, right before it is sent. */
  readonly fences?: readonly Fence[] | undefined;
  /**
   * The request can be sent again even if the first attempt may have arrived: reads, and writes that carry a
   * resource version or are idempotent.
   */
  readonly repeatable: boolean;
}

/** Formats a call, for example `get ConfigMap default/web`. */
export function describeCall({ verb, kind, namespace = '', name = '' }: Call): string {
  const key = namespace !== '' && name !== '' ? `${namespace}/${name}` : namespace + name;
  return key === '' ? `${verb} ${kind}` : `${verb} ${kind} ${key}`;
}
