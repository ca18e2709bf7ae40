import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { clientFromKubeConfig } from '../../../lib/client/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Namespace } from '../../../lib/object/kinds.js';
import {
  createAuthority,
  issueCertificate,
  systemClock,
  systemRandom,
} from '../../../lib/system/index.js';

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

interface Certificates {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

describe('EmbeddedCluster over HTTPS', () => {
  let cluster: EmbeddedCluster;
  before(async () => {
    const users = { 'a-token': 'bot' };
    cluster = await EmbeddedCluster.start({ tls: true, rbac: true, port: 0, users });
  });
  after(() => cluster.stop());

  async function whoAmI(certificates: Certificates, token?: string): Promise<[number, unknown]> {
    const dispatcher = new Agent({ connect: certificates });
    try {
      const headers = {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
      };
      const options = { method: 'POST', headers, body: '{}', dispatcher } as const;
      const { statusCode, body } = await request(cluster.url + review, options);
      const answer = (await body.json()) as { status?: { userInfo: unknown } };
      return [statusCode, answer.status?.userInfo];
    } finally {
      await dispatcher.close();
    }
  }

  it('writes kubeconfigs with the authority of its certificate', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-tls-'));
    try {
      const path = join(folder, 'kubeconfig');
      await cluster.writeKubeConfig(path);
      const client = await clientFromKubeConfig({ path });
      expect(cluster.url).to.match(/^https:\/\/127\.0\.0\.1:/);
      expect((await client.get(Namespace, { name: 'default' })).kind).to.equal('Namespace');
      await client.close();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('authenticates a user and its groups with a client certificate', async () => {
    const { certificate: cert, privateKey: key } = await cluster.clientCertificate('jane', [
      'a',
      'b',
    ]);
    const [code, user] = await whoAmI({ ca: cluster.certificateAuthority, cert, key });
    expect(code).to.equal(201);
    const groups = ['a', 'b', 'system:authenticated'];
    expect(user).to.deep.include({ username: 'jane', groups });
  });

  it('answers 401 to a certificate of another authority, unless a token is valid', async () => {
    const other = await EmbeddedCluster.start({ tls: true, port: 0 });
    const { certificate: cert, privateKey: key } = await other.clientCertificate('jane');
    await other.stop();
    const foreign = { ca: cluster.certificateAuthority, cert, key };
    expect((await whoAmI(foreign))[0]).to.equal(401);
    expect((await whoAmI(foreign, 'another-token'))[0]).to.equal(401);
    expect((await whoAmI(foreign, 'a-token'))[1]).to.include({ username: 'bot' });
  });

  it('authenticates by the token if the certificate names no user', async () => {
    const { certificate: cert, privateKey: key } = await cluster.clientCertificate('', ['a']);
    const unnamed = { ca: cluster.certificateAuthority, cert, key };
    expect((await whoAmI(unnamed, 'a-token'))[1]).to.include({ username: 'bot' });
    // Without a token the user is anonymous, and may not create a SelfSubjectReview.
    expect((await whoAmI(unnamed))[0]).to.equal(403);
  });

  it('prefers a certificate to a token', async () => {
    const { certificate: cert, privateKey: key } = await cluster.clientCertificate('jane');
    const own = { ca: cluster.certificateAuthority, cert, key };
    for (const token of ['a-token', 'another-token']) {
      expect((await whoAmI(own, token))[1]).to.include({ username: 'jane' });
    }
  });

  it('is rejected by a client that does not trust its authority', async () => {
    const error = await whoAmI({}).then(
      String,
      (reason: unknown) => (reason as { code?: string }).code,
    );
    expect(error).to.equal('SELF_SIGNED_CERT_IN_CHAIN');
  });

  it('uses a given certificate, which its kubeconfigs contain', async () => {
    const now = systemClock.now();
    const validity = { fromMs: now - 60_000, untilMs: now + 3_600_000 };
    const options = { random: systemRandom, validity };
    const authority = await createAuthority('own', options);
    const server = await issueCertificate(authority, ['127.0.0.1'], options);
    const tls = { ...server, certificate: `${server.certificate}\n${authority.certificate}` };
    const own = await EmbeddedCluster.start({ tls, port: 0 });
    const client = await clientFromKubeConfig({ text: own.kubeConfig() });
    expect(own.url).to.match(/^https:/);
    expect((await client.get(Namespace, { name: 'default' })).kind).to.equal('Namespace');
    expect(() => own.certificateAuthority).to.throw('its own authority: start it with tls: true');
    await client.close();
    await own.stop();
  });

  it('stops while a client has connected, but has not completed its TLS handshake', async () => {
    const own = await EmbeddedCluster.start({ tls: true, port: 0 });
    const socket = connect(Number(new URL(own.url).port), '127.0.0.1');
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    // Once the server has answered this request, it has also accepted the connection of `socket`.
    const dispatcher = new Agent({ connect: { ca: own.certificateAuthority } });
    await (await request(`${own.url}/healthz`, { dispatcher })).body.dump();
    await own.stop();
    await closed;
    await dispatcher.close();
  });

  it('has no certificates unless it listens on HTTPS', async () => {
    const plain = await EmbeddedCluster.start();
    expect(() => plain.certificateAuthority)
      .to.throw('tls: true')
      .with.property('code', 'Stopped');
    await plain.stop();
  });
});
