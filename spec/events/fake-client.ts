import type { Client } from '../../lib/client/client.js';
import { ApiError } from '../../lib/object/api-error.js';
import type { StatusCause } from '../../lib/object/api-error.js';

/** A call that a {@link FakeClient} received. */
export interface FakeCall {
  readonly verb: string;
  /** The object of a create, update or apply, or the body of a patch. */
  readonly body?: unknown;
  readonly name?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the response to a call, or throws. */
export type Answer = (call: FakeCall) => unknown;

/** A Client without a server: records every call and responds with `answer`, by default the body. */
export class FakeClient {
  readonly calls: FakeCall[] = [];
  answer: Answer = ({ body }) => body;
  readonly client: Client;

  constructor() {
    const call = async <T>(fake: FakeCall): Promise<T> => {
      this.calls.push(fake);
      return (await this.answer(fake)) as T;
    };
    const unasked = (): never => {
      throw new Error('not expected');
    };
    this.client = {
      get: (type, key) => call({ verb: 'get', name: key.name }),
      list: () => call({ verb: 'list' }),
      pages: unasked,
      watch: unasked,
      stream: unasked,
      create: (body, options) => call({ verb: 'create', body, signal: options?.signal }),
      update: (body, options) => call({ verb: 'update', body, signal: options?.signal }),
      patch: (type, { name }, patch, options) =>
        call({ verb: 'patch', name, body: patch, signal: options?.signal }),
      apply: (body) => call({ verb: 'apply', body }),
      delete: (type, { name }) => call({ verb: 'delete', name }),
      deleteCollection: () => call({ verb: 'deleteCollection' }),
      resourceType: unasked,
    };
  }

  get verbs(): string[] {
    return this.calls.map(({ verb }) => verb);
  }
}

/** Returns an error response of the API server. */
export function apiError(
  status: number,
  reason = '',
  options: { message?: string; causes?: StatusCause[]; retryAfterMs?: number; verb?: string } = {},
): ApiError {
  const { message = 'no', causes = [], retryAfterMs, verb = 'create' } = options;
  const body = { code: status, reason, message, details: { causes } };
  return new ApiError(body, { verb, kind: 'Event', status, retryAfterMs });
}
