import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { Agent, request } from 'undici';
import { HttpEndpoint } from '../../../lib/manager/http-endpoint.js';
import type { CertificateSource } from '../../../lib/manager/webhooks/index.js';
import { systemClock } from '../../../lib/system/clock.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { ownCertificate } from '../webhooks/suite/serving.js';

interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

async function running(certificate?: CertificateSource): Promise<Running> {
  const endpoint = new HttpEndpoint({
    ...{ name: 'spec', host: '127.0.0.1', port: 0, certificate, clock: systemClock },
    answer: () => Promise.resolve({ status: 200, body: 'fine' }),
  });
  const ending = new AbortController();
  let run = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    run = endpoint.run({ signal: ending.signal, logger: silentLogger, ready: resolve });
    run.catch(reject);
  });
  return {
    url: endpoint.url ?? '',
    stop: () => {
      ending.abort();
      return run;
    },
  };
}

async function statusOf(url: string, ca?: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca } });
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    return statusCode;
  } finally {
    await dispatcher.destroy();
  }
}

describe('HttpEndpoint', () => {
  it('answers 400 to an invalid request target, and continues', async () => {
    const endpoint = await running();
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(endpoint.url).port) });
    socket.write('GET //[bad HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1.1 400 /);
    socket.destroy();
    expect(await statusOf(endpoint.url)).to.equal(200);
    await endpoint.stop();
  });

  for (const scheme of ['http', 'https']) {
    it(`stops despite a connection that has sent nothing: ${scheme}`, async () => {
      const { source, authority } = await ownCertificate();
      const endpoint = await running(scheme === 'https' ? source : undefined);
      const { port, hostname } = new URL(endpoint.url);
      const socket = connect({ port: Number(port), host: hostname });
      await once(socket, 'connect');
      socket.on('error', () => undefined); // The server may close it by a reset or an end.
      // A response to a later connection shows that the server has accepted this one.
      expect(await statusOf(endpoint.url, authority)).to.equal(200);
      const closed = once(socket, 'close');
      await endpoint.stop();
      await closed;
    });
  }
});
