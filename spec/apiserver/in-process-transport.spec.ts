import { expect } from 'chai';
import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';

describe('inProcessTransport', () => {
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
