import { expect } from 'chai';
import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';
import { WholeBody } from '../../lib/system/index.js';

describe('inProcessTransport', () => {
  it('does not carry out a request whose signal was aborted before the call', async () => {
    const server = new EmbeddedApiServer();
    const transport = server.transport();
    const request = { method: 'DELETE', path: '/api/v1/namespaces/default', headers: {} } as const;
    const refused = transport.request({ ...request, signal: AbortSignal.abort() });
    expect(await refused.catch((thrown: unknown) => thrown)).to.have.property('code', 'Aborted');
    expect(server.requests.entries).to.deep.equal([]);
    await server.stop();
  });

  it('returns a body whose text and whose bytes have the same content', async () => {
    const server = new EmbeddedApiServer();
    const request = { method: 'GET', path: '/api/v1/namespaces/default', headers: {} } as const;
    const { body } = await server.transport().request(request);
    const text = body instanceof WholeBody ? body.text : undefined;
    const chunks = [];
    for await (const chunk of body) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).to.equal(text);
    expect(JSON.parse(text ?? '')).to.have.nested.property('metadata.name', 'default');
    await server.stop();
  });

  it('ends a watch that is aborted while the server handles its request', async () => {
    const server = new EmbeddedApiServer();
    const transport = server.transport();
    const attempt = new AbortController();
    const asked = transport.request({
      ...{ method: 'GET', path: '/api/v1/configmaps?watch=true', headers: {} },
      signal: attempt.signal,
    });
    attempt.abort();
    const { body } = await asked;
    const ended = body[Symbol.asyncIterator]().next();
    const error = await ended.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'Aborted');
    await transport.close();
    await server.stop();
  });
});
