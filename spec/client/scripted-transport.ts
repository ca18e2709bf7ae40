import { createClient } from '../../lib/client/index.js';
import type { ClientSettings, ConnectedClient, Credentials } from '../../lib/client/index.js';
import type { Transport, TransportRequest, TransportResponse } from '../../lib/system/transport.js';

/** Response of a script: a body as JSON, as text, or in chunks. */
export interface ScriptedAnswer {
  /** @defaultValue 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly text?: string;
  /** Chunks of the body; an Error breaks it off there. */
  readonly chunks?: readonly (string | Uint8Array | Error)[];
}

/** Responds to the nth request, from 1; an Error is thrown. */
export type Script = (
  request: TransportRequest,
  nth: number,
) => ScriptedAnswer | Error | Promise<ScriptedAnswer | Error>;

/** Transport without a server: a script responds, and all requests are recorded. */
export class ScriptedTransport implements Transport {
  readonly host = 'script:6443';
  readonly requests: TransportRequest[] = [];
  closed = false;
  /** Number of streams in progress. */
  open = 0;
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  /** Method and path of each request. */
  get calls(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request);
    const answer = await this.#script(request, this.requests.length);
    if (answer instanceof Error) throw answer;
    const { status = 200, headers = {}, json, text = JSON.stringify(json), chunks } = answer;
    const type = json === undefined ? 'text/plain' : 'application/json';
    return {
      status,
      headers: { 'content-type': type, ...headers },
      body: this.#body(chunks ?? [text]),
    };
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  async *#body(chunks: NonNullable<ScriptedAnswer['chunks']>): AsyncGenerator<Uint8Array> {
    this.open += 1;
    try {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        yield Buffer.from(chunk);
      }
    } finally {
      this.open -= 1;
    }
  }
}

/** Returns a client whose requests a script answers. */
export function scripted(
  script: Script,
  settings: ClientSettings & { readonly credentials?: Credentials } = {},
): { readonly client: ConnectedClient; readonly transport: ScriptedTransport } {
  const transport = new ScriptedTransport(script);
  return { client: createClient({ ...settings, transport }), transport };
}

/** Resolves to the error with which `promise` rejects. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('it should have failed with an Error');
}

/** Returns an error response of an API server. */
export function refusal(status: number, reason: string, more: object = {}): ScriptedAnswer {
  const json = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason };
  return { status, json: { ...json, message: `${reason} it is`, ...more } };
}
