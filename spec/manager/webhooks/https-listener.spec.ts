import { once } from 'node:events';
import { request } from 'node:https';
import { connect as netConnect } from 'node:net';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { allowed, validatingWebhook } from '../../../lib/manager/webhooks/index.js';
import type {
  CertificateContext,
  CertificateSource,
  ServingCertificate,
} from '../../../lib/manager/webhooks/index.js';
import { systemClock } from '../../../lib/system/clock.js';
import { systemRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import {
  createAuthority,
  issueCertificate,
  issueClientCertificate,
} from '../../../lib/system/x509.js';
import type { Authority } from '../../../lib/system/x509.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { serving } from './suite/serving.js';
import type { Serving } from './suite/serving.js';

const path = '/validate--v1-configmap';
const names = ['localhost', '127.0.0.1'];
const webhook = validatingWebhook(ConfigMap, () => allowed());
const other = validatingWebhook(ConfigMap, () => allowed(), { path: '/other', name: 'other.a.b' });

describe('The HTTPS listener of webhooks', () => {
  let authority: Authority;
  let own: { readonly authority: string; readonly source: CertificateSource };
  let change: CertificateContext['onChange'] = () => undefined;

  const options = () => {
    const nowMs = systemClock.now();
    const validity = { fromMs: nowMs - 60_000, untilMs: nowMs + 3_600_000 };
    return { validity, random: systemRandom };
  };
  const issued = (): Promise<ServingCertificate> => issueCertificate(authority, names, options());

  before(async () => {
    authority = await createAuthority('spec', options());
    const source: CertificateSource = {
      start: (context) => {
        change = context.onChange;
        return issued();
      },
    };
    own = { authority: authority.certificate, source };
  });

  it('accepts only clients of the given authority, also after its own certificate was replaced', async () => {
    const server = await serving([webhook], own, { clientAuthorities: authority.certificate });
    const client = await issueClientCertificate(authority, { user: 'api', groups: [] }, options());
    const foreign = await createAuthority('spec', options());
    const stranger = await issueClientCertificate(foreign, { user: 'api', groups: [] }, options());
    const ask = (shown: ServingCertificate): Promise<unknown> => statusOf(server, own, shown);
    expect(await ask(client)).to.equal(404);
    expect(await ask(stranger)).to.be.an('error');
    change(await issued());
    expect(await ask(client)).to.equal(404);
    expect(await ask(stranger)).to.be.an('error');
    await server.stop();
  });

  const idle: readonly (readonly [string, (port: number) => Promise<Socket>])[] = [
    ['has not begun TLS', (port) => opened(netConnect({ port, host: '127.0.0.1' }), 'connect')],
    [
      'has sent no request',
      (port) => opened(connect({ port, host: '127.0.0.1', ca: own.authority }), 'secureConnect'),
    ],
    [
      'has sent half of its headers',
      async (port) => {
        const ca = own.authority;
        const socket = await opened(connect({ port, host: '127.0.0.1', ca }), 'secureConnect');
        await new Promise((resolve) => socket.write(`POST ${path} HTTP/1.1\r\n`, resolve));
        return socket;
      },
    ],
  ];
  for (const [what, open] of idle) {
    it(`stops although there is a connection that ${what}`, async () => {
      const clock = new VirtualClock();
      const server = await serving([webhook], own, { clock });
      const socket = await open(server.server.port ?? 0);
      // A response to a later connection shows that the server has accepted this one.
      expect((await server.post('/other', {})).status).to.equal(404);
      const closed = once(socket, 'close');
      await server.stop();
      await closed;
      expect(clock.pendingTimers).to.equal(0);
    });
  }

  it('keeps idle connections open for longer than API servers, which close them after 90 s', async () => {
    const server = await serving([webhook], own);
    const ca = own.authority;
    const port = server.server.port ?? 0;
    const socket = await opened(connect({ port, host: '127.0.0.1', ca }), 'secureConnect');
    socket.write(posted(review()));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    const [, seconds] = /^keep-alive: timeout=(\d+)/im.exec(answer.toString()) ?? [];
    expect(Number(seconds)).to.be.greaterThan(90);
    await server.stop();
  });

  it('logs that the client disconnected before the handler returned', async () => {
    const lines: LogLine[] = [];
    let begun: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => (begun = resolve));
    const slow = validatingWebhook(ConfigMap, async (_, { signal }) => {
      begun();
      await once(signal, 'abort');
      return allowed();
    });
    const server = await serving([slow, other], own, { log: rememberingLogger(lines) });
    const ca = own.authority;
    const port = server.server.port ?? 0;
    const socket = await opened(connect({ port, host: '127.0.0.1', ca }), 'secureConnect');
    socket.write(posted(review()));
    await entered;
    expect((await server.post(other.path, review())).status).to.equal(200);
    expect(lines.filter(({ level }) => level === 'warn')).to.deep.equal([]);
    socket.destroy();
    await server.stop();
    const [line] = lines.filter(({ level }) => level === 'warn');
    expect(line?.message).to.include('no longer waits for the handler');
    expect(line?.fields).to.include({ webhook: slow.name, name: 'a' });
  });

  it('waits at most 10 s for an unfinished response when it stops', async () => {
    const clock = new VirtualClock();
    let begun: () => void = () => undefined;
    const entered = new Promise<void>((resolve) => (begun = resolve));
    const stuck = validatingWebhook(ConfigMap, async (_, { signal }) => {
      begun();
      await once(signal, 'abort');
      return allowed();
    });
    const server = await serving([stuck], own, { clock });
    const ca = own.authority;
    const port = server.server.port ?? 0;
    const socket = await opened(connect({ port, host: '127.0.0.1', ca }), 'secureConnect');
    socket.write(posted(review()));
    await entered;
    let isOver = false;
    const stopped = server.stop().then(() => (isOver = true));
    while (clock.pendingTimers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(9_999);
    expect(isOver).to.equal(false);
    await clock.advance(1);
    await stopped;
    expect(clock.pendingTimers).to.equal(0);
  });
});

/** Returns a request as it is sent. */
function posted(content: object): string {
  const body = JSON.stringify(content);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
  return `${head}content-length: ${body.length}\r\n\r\n${body}`;
}

function review(): object {
  const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const request = { uid: 'u', operation: 'CREATE', kind, name: 'a', namespace: 'n', object };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
}

async function opened(socket: Socket, event: string): Promise<Socket> {
  await once(socket, event);
  socket.on('error', () => undefined); // The server may close it by a reset or an end.
  return socket;
}

/**
 * Returns the status that a client with the certificate `shown` receives over a connection of its
 * own, or its error.
 */
async function statusOf(
  { server: { port } }: Serving,
  { authority: ca }: { readonly authority: string },
  { certificate: cert, privateKey: key }: ServingCertificate,
): Promise<unknown> {
  return new Promise((resolve) => {
    const tls = { ca, cert, key, agent: false };
    const headers = { 'content-type': 'application/json' };
    const target = { host: '127.0.0.1', port, method: 'POST', path: '/other' };
    const asking = request({ ...target, ...tls, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asking.on('error', resolve);
    asking.end('{}');
  });
}
