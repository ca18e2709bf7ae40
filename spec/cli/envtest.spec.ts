import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import {
  createAuthority,
  issueCertificate,
  issueClientCertificate,
  systemClock,
  systemRandom,
} from '../../lib/system/index.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, freePort, scratchDirectory, startCli } from './cli.js';
import type { CliSettings } from './cli.js';

describe('operator-builder envtest', () => {
  const file = scratchDirectory();
  let flags: readonly string[];
  let asUser: (user: string, ...groups: string[]) => Promise<Agent>;

  /** Writes the files that envtest passes to kube-apiserver. */
  before(async () => {
    const now = systemClock.now();
    const validity = { fromMs: now - 60_000, untilMs: now + 3_600_000 };
    const options = { random: systemRandom, validity };
    const authority = await createAuthority('serving', options);
    const clients = await createAuthority('clients', options);
    const server = await issueCertificate(authority, ['127.0.0.1', 'localhost'], options);
    await writeFile(file('apiserver.crt'), server.certificate);
    await writeFile(file('apiserver.key'), server.privateKey);
    await writeFile(file('clients.crt'), clients.certificate);
    flags = [
      ...['--authorization-mode=RBAC', '--bind-address=127.0.0.1', '--secure-port=0'],
      ...[`--cert-dir=${file()}`, `--client-ca-file=${file('clients.crt')}`],
      ...['--etcd-servers=http://127.0.0.1:1', '--service-cluster-ip-range=10.0.0.0/24'],
    ];
    asUser = async (user, ...groups) => {
      const own = await issueClientCertificate(clients, { user, groups }, options);
      const { certificate: cert, privateKey: key } = own;
      return new Agent({ connect: { ca: authority.certificate, cert, key } });
    };
  });

  async function whileServing(
    { more = [], env }: { readonly more?: readonly string[] } & Pick<CliSettings, 'env'>,
    work: (url: string) => Promise<void>,
  ): Promise<string> {
    const server = startCli(['envtest', file(), '--', ...flags, ...more], { env });
    try {
      await work(
        await eventually(() => {
          const [url] = /https:\S+/.exec(server.written().stdout) ?? [];
          if (url === undefined) throw new Error('the server is not ready');
          return url;
        }),
      );
    } finally {
      server.stop();
    }
    const { code, stderr } = await server.ended;
    expect(code).to.equal(0);
    return stderr;
  }

  async function send(dispatcher: Agent, url: string, method: 'GET' | 'DELETE' = 'GET') {
    const { statusCode, body } = await request(url, { method, dispatcher });
    return { code: statusCode, text: await body.text() };
  }

  it('does not overwrite a program that it did not write', async () => {
    await writeFile(file('etcd'), 'the real one');
    const { code, stderr } = await cli(['envtest', file()]);
    expect(code).to.equal(1);
    expect(stderr).to.include('etcd is another program');
    expect(await readFile(file('etcd'), 'utf8')).to.equal('the real one');
    await rm(file('etcd'));
  });

  it('writes programs that start, and prints the folder of the programs', async () => {
    const { code, stdout } = await cli(['envtest', file('bin'), '--workloads']);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: `${file('bin')}\n` });
    expect(await readdir(file('bin'))).to.have.members(['etcd', 'kube-apiserver']);
    for (const name of ['etcd', 'kube-apiserver']) {
      // Envtest looks for flags in the help first.
      await promisify(execFile)(file('bin', name), ['--help']);
    }
  });

  for (const [name, ready] of [
    ['etcd', (written: string) => written.includes('"health":"true"')],
    ['kube-apiserver', (written: string) => /https:\S+/.test(written)],
  ] as const) {
    it(`writes a program ${name} that ends with the process that started it`, async () => {
      const port = await freePort();
      const args = name === 'etcd' ? [`--listen-client-urls=http://127.0.0.1:${port}`] : flags;
      // The shell ends when its input ends. The program inherits the output, which closes once both have ended.
      const shell = spawn('sh', ['-c', '"$@" & read line', 'sh', file('bin', name), ...args]);
      let written = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => (written += text));
      const closed = once(shell.stdout, 'close');
      await eventually(async () => {
        if (name === 'etcd') written = await (await fetch(`http://127.0.0.1:${port}`)).text();
        expect(ready(written)).to.equal(true);
      });
      shell.stdin.end();
      await closed;
    });
  }

  it('writes a program kube-apiserver, which runs controllers if the command had --workloads', async () => {
    for (const [folder, ...more] of [['alone'], ['working', '--workloads']] as const) {
      expect((await cli(['envtest', file(folder), ...more])).code).to.equal(0);
    }
    expect(await readFile(file('alone', 'kube-apiserver'), 'utf8')).not.to.include('--workloads');
    const admin = await asUser('admin', 'system:masters');
    const server = spawn(file('working', 'kube-apiserver'), [...flags]);
    try {
      let written = '';
      server.stdout.setEncoding('utf8').on('data', (text: string) => (written += text));
      await eventually(async () => {
        const [url = ''] = /https:\S+/.exec(written) ?? [];
        const path = '/api/v1/namespaces/default/serviceaccounts';
        expect((await send(admin, `${url}${path}`)).text).to.include('"name":"default"');
      });
    } finally {
      server.kill();
      await once(server, 'close');
      await admin.close();
    }
  });

  it('serves with the certificates and the authorization mode in the flags of kube-apiserver, without controllers', async () => {
    const admin = await asUser('admin', 'system:masters');
    const jane = await asUser('jane');
    const stderr = await whileServing({}, async (url) => {
      expect(await send(jane, `${url}/healthz`)).to.deep.equal({ code: 200, text: 'ok' });
      expect((await send(jane, `${url}/api/v1/namespaces`)).code).to.equal(403);
      await eventually(async () => {
        const service = `${url}/api/v1/namespaces/default/services/kubernetes`;
        expect((await send(admin, service)).code).to.equal(200);
      });
      const { text } = await send(admin, `${url}/api/v1/serviceaccounts`);
      expect(text).to.include('"items":[]');
    });
    expect(stderr).to.equal('');
    await Promise.all([admin.close(), jane.close()]);
  });

  it('serves the control API if its token is set, and warns about flags that have no effect', async () => {
    const admin = await asUser('admin', 'system:masters');
    const settings = {
      more: ['--feature-gates=A=true'],
      env: { OPERATOR_BUILDER_CONTROL_TOKEN: 'known' },
    };
    const stderr = await whileServing(settings, async (url) => {
      const headers = { authorization: 'Bearer known' };
      const { statusCode, body } = await request(`${url}/_control/v1`, {
        headers,
        dispatcher: admin,
      });
      expect(statusCode).to.equal(200);
      await body.dump();
    });
    expect(stderr).to.equal(
      'warning: --feature-gates of kube-apiserver has no effect on this server\n',
    );
    await admin.close();
  });

  for (const [problem, bad, message] of [
    [
      'without certificates',
      ['--secure-port=0'],
      '--tls-cert-file is missing; pass it, or --cert-dir',
    ],
    [
      'with an invalid port',
      ['--secure-port=many'],
      '--secure-port: want a port, 0 to 65535, got many',
    ],
    ['with a word that is not a flag', ['serve'], 'want --name=value, got serve'],
    ['with missing files', ['--secure-port=0', '--cert-dir=/none'], 'there is no such file'],
  ] as const) {
    it(`refuses flags ${problem}`, async () => {
      const { code, stderr } = await cli(['envtest', file(), '--', ...bad]);
      expect(code).to.equal(1);
      expect(stderr).to.include(message);
    });
  }
});
