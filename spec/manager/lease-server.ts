import type { Lease } from '../../lib/object/kinds.js';
import type { TransportRequest, TransportResponse } from '../../lib/system/transport.js';

/**
 * Stores Leases like an API server, for simulations of thousands of elections.
 * The embedded server, on which the specs of the elector run, takes ten times as long.
 */
export class LeaseServer {
  readonly #leases = new Map<string, Lease>();
  #version = 0;

  request({ method, path, body = '' }: TransportRequest): TransportResponse {
    const [, name] = /\/leases\/([^/?]+)/.exec(path) ?? [];
    const sent = method === 'GET' ? undefined : (JSON.parse(body.toString()) as Lease);
    const stored = this.#leases.get(name ?? sent?.metadata.name ?? '');
    if (sent === undefined) return stored === undefined ? refusal(404, 'NotFound') : ok(stored);
    if (method === 'POST') {
      return stored === undefined ? this.#store(sent) : refusal(409, 'AlreadyExists');
    }
    if (stored === undefined) return refusal(404, 'NotFound');
    const isCurrent = sent.metadata.resourceVersion === stored.metadata.resourceVersion;
    return isCurrent ? this.#store(sent) : refusal(409, 'Conflict');
  }

  #store(lease: Lease): TransportResponse {
    const metadata = { ...lease.metadata, resourceVersion: String(++this.#version) };
    const stored = { ...lease, metadata };
    this.#leases.set(metadata.name ?? '', stored);
    return ok(stored);
  }
}

/** Returns an error response. */
export function refusal(code: number, reason: string): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason };
  return answer(code, status);
}

function ok(lease: Lease): TransportResponse {
  return answer(200, lease);
}

function answer(status: number, json: object): TransportResponse {
  async function* body() {
    yield Buffer.from(JSON.stringify(json));
  }
  return { status, headers: { 'content-type': 'application/json' }, body: body() };
}
