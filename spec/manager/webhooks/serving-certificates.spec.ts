import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { connect } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { expect } from 'chai';
import { Agent, request } from 'undici';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import {
  allowed,
  certificateFiles,
  mutatingWebhook,
  validatingWebhook,
} from '../../../lib/manager/webhooks/index.js';
import type { CertificateSource, ServingCertificate } from '../../../lib/manager/webhooks/index.js';
import type { LogLine } from '../manager-setup.js';
import { rememberingLogger } from '../manager-setup.js';
import { ownCertificate, serving } from './suite/serving.js';
import type { OwnCertificate } from './suite/serving.js';

const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
const review = {
  ...{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
  request: { uid: 'u-1', operation: 'CREATE', kind, name: 'a', namespace: 'n' },
};
const validating = validatingWebhook(ConfigMap, () => allowed());

describe('A serving certificate that is replaced under load', () => {
  it('fails no TLS handshake and no request, on old and new connections', async () => {
    const [one, two] = [await ownCertificate(), await ownCertificate()];
    const shown = await Promise.all([one, two].map((own) => own.source.start({} as never)));
    const [first] = shown;
    let replace: (next: ServingCertificate) => void = () => undefined;
    const source: CertificateSource = {
      start: ({ onChange }) => {
        replace = onChange;
        return Promise.resolve(first!);
      },
    };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const slow = mutatingWebhook(ConfigMap, async () => {
      await held;
      return allowed();
    });
    const certificates = { certificates: source };
    const both = { source, authority: `${one.authority}\n${two.authority}` };
    const server = await serving([validating, slow], both, certificates);
    const inFlight = server.post(slow.path, review);
    const answers: Promise<number>[] = [];
    for (let round = 0; round < 100; round++) {
      replace(shown[round % 2]!);
      answers.push(postOnce(server.url, both.authority));
      // The next change meets connections in all phases of a handshake.
      if (round % 3 === 0) await new Promise(setImmediate);
    }
    const statuses = await Promise.all(answers);
    expect(statuses).to.deep.equal(statuses.map(() => 200));
    release();
    expect((await inFlight).status).to.equal(200);
    replace(shown[1]!);
    expect(await trusts(server.server.port, two.authority)).to.equal(true);
    await server.stop();
  });
});

describe('certificateFiles', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(`${tmpdir()}/certificates-`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = async (own: OwnCertificate, which: 'both' | 'certificate' = 'both') => {
    const first = await own.source.start({} as never);
    await writeFile(`${folder}/tls.crt`, first.certificate);
    if (which === 'both') await writeFile(`${folder}/tls.key`, first.privateKey);
  };

  it('presents a replaced certificate on the next connection, without a restart', async () => {
    const clock = new VirtualClock();
    const [one, two] = [await ownCertificate(), await ownCertificate()];
    await write(one);
    const certificates = certificateFiles({ folder });
    const server = await serving([validating], one, { certificates, clock });
    const { port } = server.server;
    expect(await trusts(port, one.authority)).to.equal(true);
    await write(two, 'certificate');
    await clock.advance(10_000);
    await readOnce();
    expect(await trusts(port, one.authority)).to.equal(true); // The new key does not match.
    await write(two);
    await until(async () => {
      await clock.advance(10_000);
      return trusts(port, two.authority);
    });
    await server.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('logs once that certificate and key do not match, and once that they match again', async () => {
    const clock = new VirtualClock();
    const lines: LogLine[] = [];
    const own = await ownCertificate();
    await write(own);
    const ending = new AbortController();
    await certificateFiles({ folder }).start({
      ...{ clock, logger: rememberingLogger(lines), signal: ending.signal },
      onChange: () => undefined,
    });
    const look = async (): Promise<void> => {
      await clock.advance(10_000);
      await until(() => Promise.resolve(clock.pendingTimers === 1));
    };
    await rm(`${folder}/tls.key`);
    for (let n = 0; n < 3; n++) await look();
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn']);
    await write(own);
    for (let n = 0; n < 2; n++) await look();
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn', 'info']);
    ending.abort();
  });

  for (const name of ['tls.crt', 'tls.key']) {
    it(`ignores an empty ${name} later, because it may be half written, and refuses it at the start`, async () => {
      const clock = new VirtualClock();
      const lines: LogLine[] = [];
      const changes: ServingCertificate[] = [];
      const own = await ownCertificate();
      await write(own);
      const ending = new AbortController();
      const context = {
        ...{ clock, logger: rememberingLogger(lines), signal: ending.signal },
        onChange: (next: ServingCertificate) => void changes.push(next),
      };
      await certificateFiles({ folder }).start(context);
      await writeFile(`${folder}/${name}`, '');
      await clock.advance(10_000);
      await until(() => Promise.resolve(clock.pendingTimers === 1));
      ending.abort();
      expect(changes).to.deep.equal([]);
      const [{ level, fields } = {}] = lines;
      expect([level, String(fields?.['error'])]).to.deep.equal([
        'warn',
        `OperatorError: ${name} is empty`,
      ]);
      const refused = certificateFiles({ folder }).start(context);
      const error = await refused.catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('code', 'InvalidOption');
      expect((error as Error).message).to.include(`${folder}: ${name} is empty`);
    });
  }

  it('names a folder without a certificate in its error', async () => {
    const certificates = certificateFiles({ folder });
    const failed = await serving([validating], await ownCertificate(), { certificates }).catch(
      (error: unknown) => error,
    );
    expect(failed).to.be.an('error').with.property('code', 'InvalidOption');
    expect((failed as Error).message).to.contain(folder);
  });
});

/** Returns true if a client that trusts only `ca` can connect. */
async function trusts(port: number | undefined, ca: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, ca });
  try {
    await once(socket, 'secureConnect');
    const peer: PeerCertificate = socket.getPeerCertificate();
    return peer.subject.CN === 'localhost';
  } catch {
    return false; // The client does not trust the certificate.
  } finally {
    socket.destroy();
  }
}

/** Waits until a started read of files has ended. */
async function readOnce(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await readOnce();
}

/** Posts a review over a connection of its own and returns the status. */
async function postOnce(url: string, ca: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca } });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(review);
  const answer = await request(`${url}${validating.path}`, {
    method: 'POST',
    headers,
    body,
    dispatcher,
  });
  await answer.body.dump();
  await dispatcher.destroy();
  return answer.statusCode;
}
