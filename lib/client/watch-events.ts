import { ApiError } from '../object/api-error.js';
import type { Status } from '../object/api-error.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';
import { ConnectionError } from '../system/connection-error.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { WatchEvent } from './client.js';
import { withTypeOf } from './typed-object.js';

/** Marks the bookmark after the objects that existed when a streaming list began (KEP-3157). */
const initialEventsEnd = 'k8s.io/initial-events-end';

interface RawEvent {
  readonly type?: unknown;
  readonly object?: unknown;
}

/**
 * Yields the events of watch lines.
 * @throws ApiError: an `ERROR` event, for example 410 if the resourceVersion is too old.
 */
export function* watchEvents<T extends KubernetesObject>(
  lines: Iterable<unknown>,
  type: ResourceType<T>,
  call: Call,
): Generator<WatchEvent<T>> {
  for (const line of lines) yield watchEvent(line, type, call);
}

function watchEvent<T extends KubernetesObject>(
  line: unknown,
  type: ResourceType<T>,
  call: Call,
): WatchEvent<T> {
  const { type: event, object } = (line ?? {}) as RawEvent;
  switch (event) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: event, object: withTypeOf(object as T, type) };
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = (object as T).metadata;
      const ended = annotations?.[initialEventsEnd] === 'true';
      return { type: event, resourceVersion, initialEventsEnd: ended };
    }
    case 'ERROR': {
      const status = object as Status;
      throw new ApiError(status, { ...call, status: status.code ?? 500 });
    }
    default: {
      const message = `${describeCall(call)}: the stream holds something that is no watch event`;
      throw new ConnectionError(message, { requestSent: true });
    }
  }
}
