import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ExecCredentials } from '../../lib/client/exec-credentials.js';
import type { ExecEntry } from '../../lib/client/kube-config-file.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf } from './scripted-transport.js';
import { withFolder } from './temporary-folder.js';

const startMs = Date.UTC(2026, 0, 1);

const hourMs = 3_600_000;

/** Clock whose wall time can be set, as an administrator or NTP does. */
class JumpingClock extends VirtualClock {
  offsetMs = 0;

  override now(): number {
    return super.now() + this.offsetMs;
  }
}

/** Credentials whose program is this JavaScript. */
function credentialsOf(script: string, more: Partial<ExecEntry> = {}) {
  const clock = new JumpingClock(startMs);
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = { apiVersion, command: process.execPath, args: ['-e', script], ...more };
  const cluster = { server: 'https://example.com', 'tls-server-name': 'sni' };
  const context = {
    ...{ source: 'kubeconfig here', name: 'one', namespace: undefined, cluster, user: {} },
  };
  let renewals = 0;
  const onNewCertificate = async (): Promise<void> => void (renewals += 1);
  const authority = async () => undefined;
  const credentials = new ExecCredentials(context, exec, { clock, authority, onNewCertificate });
  return { credentials, clock, renewals: () => renewals };
}

const print = (status: string): string =>
  `console.log(JSON.stringify({ kind: 'ExecCredential', status: ${status} }))`;

/** Program that counts its runs in a file and prints the number as a token. */
const counting = (folder: string, more = ''): string => `
  const fs = require('node:fs');
  fs.appendFileSync(${JSON.stringify(join(folder, 'runs'))}, 'x');
  const n = fs.readFileSync(${JSON.stringify(join(folder, 'runs'))}).length;
  ${print(`{ token: 'token-' + n, ${more} }`)}`;

describe('ExecCredentials', () => {
  it('run the program once for concurrent callers', () =>
    withFolder({}, async (folder) => {
      const { credentials } = credentialsOf(counting(folder));
      const all = await Promise.all([1, 2, 3].map(() => credentials.headers()));
      expect(all).to.deep.equal(all.map(() => ({ authorization: 'Bearer token-1' })));
      await credentials.headers();
      expect(await readFile(join(folder, 'runs'), 'utf8')).to.equal('x');
    }));

  it('are renewed on expiry and when the server rejects them', () =>
    withFolder({}, async (folder) => {
      const { credentials, clock } = credentialsOf(
        counting(folder, `expirationTimestamp: '2026-01-01T00:10:00Z'`),
      );
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer token-1' });
      await clock.advance(594_000);
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer token-1' });
      await clock.advance(1_000);
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer token-2' });
      await credentials.refresh();
      expect(await readFile(join(folder, 'runs'), 'utf8')).to.equal('xxx');
    }));

  for (const [title, jumpMs] of [
    ['forward', 5 * hourMs],
    ['back', -5 * hourMs],
  ] as const) {
    it(`are renewed about once per lifetime after the wall clock jumps ${title}`, () =>
      withFolder({}, async (folder) => {
        const expires = new Date(startMs + hourMs).toISOString();
        const { credentials, clock } = credentialsOf(
          counting(folder, `expirationTimestamp: '${expires}'`),
        );
        const runs = async (): Promise<number> => (await readFile(join(folder, 'runs'))).length;
        await credentials.headers();
        clock.offsetMs = jumpMs;
        for (let n = 0; n < 20; n += 1) await credentials.headers();
        expect(await runs()).to.equal(jumpMs > 0 ? 2 : 1);
        await clock.advance(hourMs);
        const before = await runs();
        await credentials.headers();
        expect(await runs()).to.equal(before + 1);
      }));

    it(`are renewed at once when the server rejects them after the wall clock jumps ${title}`, () =>
      withFolder({}, async (folder) => {
        const expires = new Date(startMs + hourMs).toISOString();
        const { credentials, clock } = credentialsOf(
          counting(folder, `expirationTimestamp: '${expires}'`),
        );
        clock.offsetMs = jumpMs;
        const { authorization: old = '' } = await credentials.headers();
        await credentials.refresh();
        const { authorization = '' } = await credentials.headers();
        expect([old, authorization]).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
      }));
  }

  it('are renewed once a minute when the program prints expired ones', () =>
    withFolder({}, async (folder) => {
      const expires = new Date(startMs - hourMs).toISOString();
      const { credentials, clock } = credentialsOf(
        counting(folder, `expirationTimestamp: '${expires}'`),
      );
      const token = async (): Promise<unknown> => (await credentials.headers())['authorization'];
      expect(await token()).to.equal('Bearer token-1');
      await clock.advance(59_999);
      expect(await token()).to.equal('Bearer token-1');
      await clock.advance(1);
      expect(await token()).to.equal('Bearer token-2');
      expect(await token()).to.equal('Bearer token-2');
    }));

  it('stop a program that does not end, and run it again for the next request', () =>
    withFolder({}, async (folder) => {
      const { credentials, clock } = credentialsOf(`
        const fs = require('node:fs');
        const runs = ${JSON.stringify(join(folder, 'runs'))};
        fs.appendFileSync(runs, 'x');
        if (fs.readFileSync(runs).length === 1) setInterval(() => {}, 1000);
        else ${print(`{ token: 'second' }`)};`);
      const first = failureOf(credentials.headers());
      const started = async (): Promise<boolean> =>
        (await readFile(join(folder, 'runs'), 'utf8').catch(() => '')) === 'x';
      while (!(await started())) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(60_000);
      const error = await first;
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(String(error)).to.include('did not end within 60 s');
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer second' });
    }));

  it('stop a program that prints without end', async () => {
    const { credentials } = credentialsOf(`
      const more = () => process.stdout.write('x'.repeat(65536), more);
      more();`);
    const error = await failureOf(credentials.headers());
    expect(String(error)).to.include('printed more than 1048576 bytes');
  });

  it("keep tokens and passwords of the program's stderr out of the error", async () => {
    const jwt = 'eyJhbGciOiJSUzI1NiJ9abcdef.eyJzdWIiOiJqYW5lIn0abcdefgh.c2lnbmF0dXJlc2lnbmF0dXJl';
    const { credentials } = credentialsOf(
      `console.error('expired session: ${jwt} password=hunter2, please log in'); process.exit(3)`,
    );
    const message = String(await failureOf(credentials.headers()));
    expect(message).to.include('exited with 3: expired session: ').and.include('please log in');
    expect(message).to.not.match(/eyJ|c2lnb|hunter2/);
  });

  it('can be a certificate, and notify the client when it changes', () =>
    withFolder({}, async (folder) => {
      const more = `clientCertificateData: 'cert-' + n, clientKeyData: 'key-' + n`;
      const { credentials, renewals } = credentialsOf(counting(folder, more));
      expect(await credentials.certificate()).to.deep.equal({ cert: 'cert-1', key: 'key-1' });
      expect(renewals()).to.equal(0);
      await credentials.refresh();
      expect(await credentials.certificate()).to.deep.equal({ cert: 'cert-2', key: 'key-2' });
      expect(renewals()).to.equal(1);
    }));

  it('require only a token or a certificate: empty and null fields count as absent', async () => {
    const none = `clientCertificateData: '', clientKeyData: null, expirationTimestamp: null`;
    const token = credentialsOf(print(`{ token: 'abc', ${none} }`)).credentials;
    expect(await token.headers()).to.deep.equal({ authorization: 'Bearer abc' });
    expect(await token.certificate()).to.equal(undefined);
    const pair = print(`{ token: '', clientCertificateData: 'c', clientKeyData: 'k' }`);
    const certificate = credentialsOf(pair).credentials;
    expect(await certificate.headers()).to.deep.equal({});
    expect(await certificate.certificate()).to.deep.equal({ cert: 'c', key: 'k' });
  });

  it('pass the requested version to the program, and the cluster on request', async () => {
    const echo = print(`{ token: process.env.KUBERNETES_EXEC_INFO + process.env.EXTRA }`);
    const env = [{ name: 'EXTRA', value: '!' }];
    const { credentials } = credentialsOf(echo, { env, provideClusterInfo: true });
    const { authorization = '' } = await credentials.headers();
    expect(authorization.endsWith('!')).to.equal(true);
    expect(JSON.parse(authorization.slice('Bearer '.length, -1))).to.deep.equal({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: {
        interactive: false,
        cluster: { server: 'https://example.com', 'tls-server-name': 'sni' },
      },
    });
    const plain = (await credentialsOf(echo, { env }).credentials.headers())['authorization'] ?? '';
    expect(JSON.parse(plain.slice('Bearer '.length, -1))).to.have.deep.property('spec', {
      interactive: false,
    });
  });

  const broken: readonly (readonly [string, string, Partial<ExecEntry>, string])[] = [
    ['fails', `console.error('log in first'); process.exit(3)`, {}, 'exited with 3: log in first'],
    ['prints invalid JSON', `console.log('secret')`, {}, 'printed no ExecCredential'],
    ['prints null', `console.log('null')`, {}, 'printed no ExecCredential'],
    ['prints something else', `console.log('{"kind":"Pod"}')`, {}, 'printed no ExecCredential'],
    ['prints no credentials', print('{}'), {}, 'printed no ExecCredential'],
    [
      'prints a certificate without its key',
      print(`{ clientCertificateData: 'x' }`),
      {},
      'without its key',
    ],
    [
      'prints a key without its certificate',
      print(`{ token: 'x', clientKeyData: 'x', clientCertificateData: '' }`),
      {},
      'a key without its certificate',
    ],
    ['prints null for the status', print('null'), {}, 'printed no ExecCredential'],
    ['prints an empty token', print(`{ token: '' }`), {}, 'printed no ExecCredential'],
    [
      'is missing',
      '',
      { command: '/no/such/program', installHint: 'get it there' },
      'get it there',
    ],
    ['has no name', '', { command: '' }, 'exec.command is missing'],
    ['requires a terminal', '', { interactiveMode: 'Always' }, 'needs a terminal'],
  ];
  for (const [title, script, more, expected] of broken) {
    it(`report the problem when the program ${title}`, async () => {
      const { credentials } = credentialsOf(script, more);
      const error = await failureOf(credentials.headers());
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(error.message).to.contain('kubeconfig here').and.to.contain(expected);
      expect(error.message).not.to.contain('secret');
    });
  }
});
